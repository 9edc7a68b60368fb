/** Tests requests with misleading paths or headers. */
import { describe, expect, test } from 'vitest'
import { basePath } from '../support/deployment.ts'
import { type Attack, instances, key, keys, management, useVictims } from '../support/victims.ts'

const victims = useVictims()
const { held, send, refused } = victims

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

  test('give a user of one project no access to another', async () => {
    const paths = disguises(`${instances('p-a')}/x`, `${instances('p-b')}/y`)
    const folders = [
      'p-a/../p-b',
      'p-a%2f..%2fp-b',
      'p-a%2e%2e/p-b',
      'p-a/p-b',
      'p-b%00p-a',
      'p-a,p-b',
      '*',
      'P-B',
      '-',
      'p-',
      '%70-b',
      'p-b?namespace=p-a',
      'p-b#p-a',
    ]
    const below = folders.flatMap((folder) => [
      instances(folder),
      `${instances(folder)}/y`,
      `${instances(folder)}/y/kubeconfig`,
    ])
    for (const method of ['GET', 'DELETE', 'POST'])
      await refused(
        [...paths, ...below].map((path) => ({ method, path, token: held.ci, ...(method === 'POST' && { body: {} }) })),
      )
    await refused([
      { path: `${management}/virtualclusterinstances`, token: held.ci },
      { path: `${management}/virtualclusterinstances?fieldSelector=metadata.namespace%3Dp-a`, token: held.ci },
    ])
  })

  test('ignore query parameters that would change the request', async () => {
    const queries = [
      'watch=1',
      'watch=true&watch=false',
      'fieldSelector=metadata.name%3Dreader',
      'fieldSelector=metadata.name%3Dreader&fieldSelector=metadata.name%3Dvictim',
      'fieldSelector=metadata.name%3Dreader,metadata.name%3Dvictim',
      'namespace=p-a',
      'name=reader',
      'resource=selves',
      '_method=GET',
      '__proto__=x',
      'constructor=x',
    ]
    await refused(queries.map((query) => ({ path: `${keys}/victim?${query}`, token: held.reader })))
    const visible = async (query: string) => {
      const { status, json } = await send({ path: `${keys}?${query}`, token: held.reader })
      return status === 200 ? json.items?.map(({ metadata }: { metadata: { name: string } }) => metadata.name) : status
    }
    expect(await visible('')).toBe(403)
    expect(await visible('fieldSelector=metadata.name%3Dreader')).toEqual(['reader'])
    for (const selector of [
      'metadata.name!%3Dreader',
      'metadata.name%3Dvictim',
      'metadata.name%3Dreader,metadata.name%3Dvictim',
      'spec.user%3Dalice',
      'metadata.name%3D',
      'metadata.name%3D%3D%3Dreader',
      'metadata.name%3Dreader%5C,x',
    ])
      expect([selector, await visible(`fieldSelector=${selector}`)]).toEqual([selector, 403])
    for (const more of ['fieldSelector=metadata.name%3Dvictim', 'fieldSelector='])
      expect([more, await visible(`fieldSelector=metadata.name%3Dreader&${more}`)]).toEqual([more, 403])
  })
})

describe('hostile headers', () => {
  test('authenticate only with one bearer token in one Authorization header', async () => {
    const admin = held.admin
    const authorizations: (string | string[])[] = [
      [`Bearer ${held.alice}`, `Bearer ${admin}`],
      [`Bearer ${admin}`, `Bearer ${admin}`],
      `Bearer ${held.alice}, Bearer ${admin}`,
      `Bearer ${held.alice},${admin}`,
      `Bearer ${held.alice} ${admin}`,
      `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}`,
      `Token ${admin}`,
      admin,
      'Bearer',
      'Bearer ',
      `Bearer "${admin}"`,
      `Bearer ${admin.slice(0, -1)}`,
      `Bearer ${admin}A`,
      `Bearer ${admin.toLowerCase()}`,
      `Bearer ${admin}%00`,
      `Bearer ${held.dead}`,
      `Bearer ${'x'.repeat(7000)}`,
      'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsImdyb3VwcyI6WyJzeXN0ZW06bWFzdGVycyJdfQ.',
    ]
    await refused(
      authorizations.map((authorization) => ({ path: keys, token: '', headers: { authorization } })),
      [401],
    )
    const elsewhere: Attack[] = [
      { path: `${keys}?access_token=${admin}&token=${admin}`, token: '' },
      { path: keys, token: '', headers: { cookie: `token=${admin}` } },
      {
        path: keys,
        token: '',
        headers: { 'x-auth-token': admin, 'x-api-key': admin, 'proxy-authorization': `Bearer ${admin}` },
      },
      {
        path: keys,
        token: '',
        headers: {
          'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from(admin).toString('base64url')}`,
        },
      },
    ]
    await refused(elsewhere, [401])
    const { json } = await send({
      method: 'POST',
      path: `${management}/directclusterendpointtokens`,
      token: admin,
      body: {},
    })
    await refused([{ path: keys, token: json.status.token }], [401])
  })

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

  test('impersonate nobody, in any spelling and with any verb', async () => {
    const spellings: Record<string, string>[] = [
      { 'Impersonate-User': 'root' },
      { 'impersonate-user': '' },
      { 'IMPERSONATE-GROUP': 'system:masters' },
      { 'Impersonate-Uid': '1' },
      { 'Impersonate-Extra-Scopes': 'x' },
      { 'Impersonate-Extra-management.platform%2fscopes': '[]' },
      { 'Impersonate-Nonsense': 'x' },
    ]
    const stored = [
      ['GET', keys],
      ['GET', `${keys}/alice`],
      ['GET', `${keys}?watch=1`],
      ['POST', keys],
      ['PUT', `${keys}/alice`],
      ['PATCH', `${keys}/alice`],
      ['DELETE', `${keys}/victim`],
      ['DELETE', keys],
    ]
    const virtual = [
      ['POST', `${management}/selves`],
      ['POST', `${management}/directclusterendpointtokens`],
      ['POST', `${instances('p-a')}/x/kubeconfig`],
      ['POST', `${basePath}/apis/authentication.k8s.io/v1/tokenreviews`],
    ]
    for (const headers of spellings)
      await refused(
        [...stored, ...virtual].map(([method = '', path = '']) => ({
          method,
          path,
          token: held.admin,
          headers: { ...headers, ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }) },
          ...(method !== 'GET' && { body: {} }),
        })),
        [403],
      )
  })
})

test('leave everything of other users unchanged', () => victims.unharmed())
