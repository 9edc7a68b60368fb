/** Tests requests with misleading paths or headers. */
import { describe, test } from 'vitest'
import { basePath } from '../support/deployment.ts'
import { type Attack, key, keys, useVictims } from '../support/victims.ts'

const victims = useVictims()
const { held, refused } = victims

describe('hostile paths', () => {
  /** Ways to write a path to `to` that starts with an allowed path. */
  const disguises = (allowed: string, to: string): string[] => {
    const name = to.slice(to.lastIndexOf('/') + 1)
    const folder = to.slice(0, to.lastIndexOf('/'))
    const hex = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&')
    return [
      to,
      `${to}/`,
      `${to}//`,
      `/${to}`,
      to.replaceAll('/', '//'),
      `${folder}/./${name}`,
      `${folder}/%2e/${name}`,
      `${allowed}/../${name}`,
      `${allowed}/%2e%2e/${name}`,
      `${allowed}%2f..%2f${name}`,
      `${allowed}%2F%2E%2E%2F${name}`,
      `${allowed}%252f..%252f${name}`,
      `${allowed}..%5c${name}`,
      `${allowed}\\..\\${name}`,
      `${allowed};/../${name}`,
      `${allowed}/;/${name}`,
      `${allowed}/..;/${name}`,
      `${allowed}%00/../${name}`,
      `${allowed}%0d%0a/../${name}`,
      `${allowed}%c0%af..%c0%af${name}`,
      `${allowed}%e2%80%a6/${name}`,
      `${folder}/${hex(name)}`,
      `${folder}/%25${hex(name).slice(1)}`,
      `${folder}/${name.toUpperCase()}`,
      `${folder}/${name}%20`,
      `${folder}/${name}%00`,
      `${folder}/${name}.`,
      `${folder}/${name};v=1`,
      `${folder}/${name}?${allowed}`,
      `${to}?path=${allowed}&name=reader`,
      `${folder.toUpperCase()}/${name}`,
      `${hex(folder)}/${name}`,
      `/dev${to}`,
      `/kubernetes/../${to.slice(1)}`,
      `${basePath}${to}`,
      `${victims.server.root}${to}`,
      `${to}/status`,
      `${to}/status/`,
      `${to}/STATUS`,
      `${to}/status/status`,
      `${to}/scale`,
      `${to}/kubeconfig`,
      `${folder}/{name}`,
      `${folder}/%7bname%7d`,
      `${folder}/*`,
      `${folder}/`,
    ]
  }

  const verbs: [string, unknown?][] = [
    ['GET'],
    ['PUT', key('victim', { user: 'bob', disabled: true })],
    ['PATCH', { spec: { disabled: true } }],
    ['DELETE'],
    ['POST', key('new')],
    ['OPTIONS'],
    ['PROPFIND'],
  ]

  test.each(verbs)('give a user who can read one key no access to another with %s', async (method, body) => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const attack =
      (token: string) =>
      (path: string): Attack => ({ method, path, token, headers, ...(body !== undefined && { body }) })
    await refused(disguises(`${keys}/reader`, `${keys}/victim`).map(attack(held.reader)))
    if (['GET', 'PUT', 'DELETE'].includes(method))
      await refused(disguises(`${keys}/auditor`, `${keys}/victim`).map(attack(held.auditor)))
  })
})

describe('hostile headers', () => {
  test('change neither the user nor the attributes of a request', async () => {
    const tricks: Record<string, string>[] = [
      { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' },
      { 'x-forwarded-user': 'root', 'x-forwarded-groups': 'system:masters' },
      { 'x-amzn-oidc-identity': 'root', 'x-amz-security-token': 'x', 'x-amzn-principal-id': 'root' },
      { 'x-http-method-override': 'GET', 'x-method-override': 'GET' },
      { 'x-original-url': `${keys}/reader`, 'x-rewrite-url': `${keys}/reader`, 'x-forwarded-prefix': '/' },
      {
        'x-forwarded-path': `${keys}/reader`,
        forwarded: 'for=127.0.0.1;host=localhost',
        'x-forwarded-for': '127.0.0.1',
      },
      { host: 'localhost', 'x-forwarded-host': 'localhost' },
      { user: Buffer.from('{"name":"root","groups":["system:masters"]}').toString('base64url') },
      { connection: 'authorization, close' },
      { 'transfer-encoding': 'chunked', 'content-length': '0' },
    ]
    await refused(
      tricks
        .flatMap((headers) => [
          { path: `${keys}/victim`, token: held.reader, headers },
          { method: 'DELETE', path: `${keys}/victim`, token: held.alice, headers },
        ])
        .filter(({ headers, method }) => !(method && 'transfer-encoding' in headers)),
    )
  })
})

test('leave everything of other users unchanged', () => victims.unharmed())
