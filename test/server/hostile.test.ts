/**
 * Requests that mean harm, several hundred of them: paths, headers, edits of scopes, privileges, bodies. None is let
 * through, none breaks anything (5xx), and afterwards everything that is not the attacker's is as it was before.
 */
import { existsSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basePath } from '../support/deployment.ts'
import * as below from '../support/objects.ts'
import { accessKey, apiVersion } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Whole paths, since some attacks are on what is before the base. */
const base = basePath
const management = `${base}${below.management}`
const keys = `${base}${below.keys}`
const instances = (namespace: string) => `${base}${below.instances(namespace)}`

interface Attack {
  method?: string
  /** As it is sent, not a byte of it normalized. */
  path: string
  /** '' = none. */
  token: string
  headers?: Record<string, string | string[]>
  body?: unknown
}

interface Reply {
  status: number
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any
}

let server: TestServer
let agent: https.Agent

function send({ method = 'GET', path, token, headers = {}, body }: Attack): Promise<Reply> {
  const content = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const { hostname, port } = new URL(server.origin)
  const all = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(content !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = https.request({ hostname, port, path, method, agent, headers: all }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode ?? 0, text, json: parsed(text) })
    })
    sent.on('error', reject)
    sent.end(content)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const key = (name: string, spec: object = {}, more: object = {}) => ({ ...accessKey(name, spec), ...more })

/** An access key made by the administrator: its value. */
const make = async (name: string, spec: object): Promise<string> =>
  (await server.make(below.keys, accessKey(name, spec))).spec.key

/** What belongs to others, as an administrator sees it, but for what changes by itself. */
async function others(): Promise<unknown> {
  const read = async (path: string) => (await send({ path, token: server.adminKey })).json.items
  const theirKeys = (await read(keys)).filter(({ status }: { status: { owner: string } }) => status.owner !== 'alice')
  return [...theirKeys, ...(await read(instances('p-b')))].map(({ status: _, ...object }) => object)
}

/** Who the holder of an access key is. */
const self = async (token: string) =>
  (await send({ method: 'POST', path: `${management}/selves`, token, body: {} })).json.status

/** A few at a time. */
async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/** kube-apiserver's own answer to an apply of values of other types: it has the code of a failure and is none. */
const isUntyped = ({ status, json }: Reply) =>
  status === 500 && json?.message?.startsWith('failed to create typed patch object')

/** Whether the server is as well as before. */
const sound = (reply: Reply) => reply.status < 500 || isUntyped(reply)

/** Every attack is refused, and by no failure. */
async function refused(
  attacks: readonly Attack[],
  codes: readonly number[] = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422],
) {
  const through: string[] = []
  await inTurns(attacks, async (attack) => {
    const reply = await send(attack)
    if (codes.includes(reply.status) || isUntyped(reply)) return
    const { method = 'GET', path, headers = {}, body = '' } = attack
    through.push(`${reply.status} ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}`.slice(0, 400))
  })
  expect(through).toEqual([])
}

/** Of alice: without a scope; for project a; for reading her key `reader`; for keys alone. */
let alice: string
let ci: string
let reader: string
let keeper: string
/** An administrator who may only read one key. */
let auditor: string
let dead: string
/** What must be the same in the end. */
let untouched: unknown

beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 60 })
  agent = new https.Agent({ ca: server.certificateAuthority, keepAlive: true })
  await make('victim', {
    user: 'bob',
    groups: ['ops', 'system:masters'],
    scope: { clusters: [{ cluster: 'eu' }] },
    ttl: 86_400,
  })
  await make('of-team', { team: 'red' })
  await make('of-subject', { subject: 'alice' })
  alice = await make('alice', { user: 'alice', groups: ['dev'] })
  ci = await make('ci', { user: 'alice', groups: ['dev'], scope: { projects: [{ project: 'a' }] } })
  const one = (name: string) => ({
    group: 'management.platform',
    resources: ['ownedaccesskeys'],
    resourceNames: [name],
  })
  reader = await make('reader', { user: 'alice', scope: { rules: [{ resources: [one('reader')] }] } })
  const all = {
    group: 'management.platform',
    resources: ['ownedaccesskeys', 'ownedaccesskeys/status', 'directclusterendpointtokens'],
  }
  keeper = await make('keeper', { user: 'alice', groups: ['dev'], ttl: 3600, scope: { rules: [{ resources: [all] }] } })
  auditor = await make('auditor', {
    user: 'root',
    groups: ['system:masters'],
    scope: { rules: [{ resources: [one('auditor')], verbs: ['get'] }] },
  })
  dead = await make('dead', { user: 'root', groups: ['system:masters'], disabled: true })
  for (const [namespace, name, user] of [
    ['p-a', 'x', 'alice'],
    ['p-b', 'x', 'bob'],
    ['p-b', 'y', 'alice'],
  ] as const) {
    const spec = { owner: { user }, accessPoint: { ingress: { host: 'vc.example.com' } } }
    await server.make(below.instances(namespace), below.instance(name, spec))
  }
  untouched = await others()
}, 120_000)
afterAll(async () => {
  agent?.destroy()
  await server?.stop()
})

describe('paths', () => {
  /** Ways to write a path that means `to`, beginning from one that is allowed. */
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
      `${base}${to}`,
      `${server.origin}${to}`,
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
    ['HEAD'],
    ['PUT', key('victim', { user: 'bob', disabled: true })],
    ['PATCH', { spec: { disabled: true } }],
    ['DELETE'],
    ['POST', key('new')],
    ['OPTIONS'],
    ['TRACE'],
    ['get'],
    ['PROPFIND'],
  ]

  test.each(verbs)('%s: a key that may be read opens no other', async (method, body) => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const attack =
      (token: string) =>
      (path: string): Attack => ({ method, path, token, headers, ...(body !== undefined && { body }) })
    await refused(disguises(`${keys}/reader`, `${keys}/victim`).map(attack(reader)))
    if (['GET', 'PUT', 'DELETE'].includes(method))
      await refused(disguises(`${keys}/auditor`, `${keys}/victim`).map(attack(auditor)))
  })

  test('a project opens no other', async () => {
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
        [...paths, ...below].map((path) => ({ method, path, token: ci, ...(method === 'POST' && { body: {} }) })),
      )
    await refused([
      { path: `${management}/virtualclusterinstances`, token: ci },
      { path: `${management}/virtualclusterinstances?fieldSelector=metadata.namespace%3Dp-a`, token: ci },
    ])
  })

  test('query parameters change nothing of what a request is', async () => {
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
    await refused(queries.map((query) => ({ path: `${keys}/victim?${query}`, token: reader })))
    const visible = async (query: string) => {
      const { status, json } = await send({ path: `${keys}?${query}`, token: reader })
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

describe('headers', () => {
  test('only one bearer token in one Authorization header is a user', async () => {
    const admin = server.adminKey
    const authorizations: (string | string[])[] = [
      [`Bearer ${alice}`, `Bearer ${admin}`],
      [`Bearer ${admin}`, `Bearer ${admin}`],
      `Bearer ${alice}, Bearer ${admin}`,
      `Bearer ${alice},${admin}`,
      `Bearer ${alice} ${admin}`,
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
      `Bearer ${dead}`,
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

  test('no header says who somebody is, or what they ask', async () => {
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
          { path: `${keys}/victim`, token: reader, headers },
          { method: 'DELETE', path: `${keys}/victim`, token: alice, headers },
        ])
        .filter(({ headers, method }) => !(method && 'transfer-encoding' in headers)),
    )
  })

  test('nobody is impersonated, in no spelling, by no verb', async () => {
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
      ['POST', `${base}/apis/authentication.k8s.io/v1/tokenreviews`],
    ]
    for (const headers of spellings)
      await refused(
        [...stored, ...virtual].map(([method = '', path = '']) => ({
          method,
          path,
          token: server.adminKey,
          headers: { ...headers, ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }) },
          ...(method !== 'GET' && { body: {} }),
        })),
        [403],
      )
  })
})

/** Every way to write `spec` over that of the key: replace, merge, patch, apply, and the same through /status. */
function writes(
  name: string,
  current: { metadata: object; spec: Record<string, unknown> },
  spec: Record<string, unknown>,
): Omit<Attack, 'token'>[] {
  const whole = { apiVersion, kind: 'OwnedAccessKey', metadata: current.metadata, spec }
  const removed = Object.keys(current.spec).filter((member) => !(member in spec))
  const merged = { ...spec, ...Object.fromEntries(removed.map((member) => [member, null])) }
  const operations = [
    ...Object.entries(spec).map(([member, value]) => ({ op: 'add', path: `/spec/${member}`, value })),
    ...removed.map((member) => ({ op: 'remove', path: `/spec/${member}` })),
  ]
  const patch = (type: string, body: unknown, query = ''): Omit<Attack, 'token'> => ({
    method: 'PATCH',
    path: `${keys}/${name}${query}`,
    headers: { 'content-type': `application/${type}` },
    body,
  })
  const object = [
    { method: 'PUT', path: `${keys}/${name}`, body: whole },
    patch('merge-patch+json', { spec: merged }),
    patch('json-patch+json', operations),
    patch('json-patch+json', [{ op: 'replace', path: '/spec', value: spec }]),
    patch('json-patch+json', [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'copy', from: '/spec', path: '/metadata/annotations/x' },
      { op: 'replace', path: '', value: whole },
    ]),
    patch('apply-patch+yaml', key(name, spec), '?fieldManager=attacker&force=true'),
    patch('apply-patch+yaml', key(name, spec), '?fieldManager=admin&force=true'),
    patch('apply-patch+yaml', key(name, {}), '?fieldManager=attacker&force=true'),
  ]
  return [
    ...object,
    ...object.slice(0, 3).map((attack) => ({ ...attack, path: attack.path.replace(`/${name}`, `/${name}/status`) })),
  ]
}

describe('a key that is confined by a scope', () => {
  /** Another one like `keeper`. */
  async function fresh(spec: object) {
    const body = { ...key(''), metadata: { generateName: 'kept-' }, spec }
    const { json } = await send({ method: 'POST', path: keys, token: server.adminKey, body })
    const { key: token } = json.spec
    return { metadata: json.metadata, token }
  }

  /** What its scope leaves out. */
  const confined = (token: string) =>
    Promise.all(
      [`${instances('p-a')}/x`, `${management}/virtualclusterinstances`].map(
        async (path) => (await send({ path, token })).status,
      ),
    )

  test.each<[string, (spec: Record<string, unknown>) => Record<string, unknown>]>([
    ['without a scope', ({ scope: _, ...spec }) => spec],
    ['with null', (spec) => ({ ...spec, scope: null })],
    ['with an empty rule', (spec) => ({ ...spec, scope: { rules: [{}] } })],
    [
      'with a rule more',
      ({ scope, ...spec }) => ({ ...spec, scope: { ...(scope as object), projects: [{ project: '*' }] } }),
    ],
    [
      'with every list',
      (spec) => ({
        ...spec,
        scope: {
          projects: [{ project: '*' }],
          clusters: [{ cluster: '*' }],
          roles: [{ role: 'agent' }, { role: 'vcluster' }, { role: 'platformCLI' }],
          allowPlatformCli: true,
        },
      }),
    ],
    ['with a list of scopes', (spec) => ({ ...spec, scope: [] })],
    ['with text', (spec) => ({ ...spec, scope: '' })],
    ['with a prototype', (spec) => ({ ...spec, scope: JSON.parse('{"__proto__":{"rules":[{}]}}') })],
    ['without an end', ({ ttl: _, ...spec }) => spec],
    ['with a later end', (spec) => ({ ...spec, ttl: 7200 })],
    ['with no end', (spec) => ({ ...spec, ttl: 0 })],
    ['with an end before its beginning', (spec) => ({ ...spec, ttl: -1 })],
    ['with an end that moves', (spec) => ({ ...spec, ttlAfterLastActivity: true })],
    ['with more groups', (spec) => ({ ...spec, groups: ['dev', 'system:masters'] })],
    ['of somebody else', (spec) => ({ ...spec, user: 'bob' })],
    ['of a team', ({ user: _, ...spec }) => ({ ...spec, team: 'red' })],
    ['of a subject', ({ user: _, ...spec }) => ({ ...spec, subject: 'root' })],
    ['of nobody', ({ user: _, ...spec }) => spec],
    ['of the service', (spec) => ({ ...spec, type: 'Login' })],
  ])('stays so: %s', async (_, change) => {
    const { spec } = (await send({ path: `${keys}/keeper`, token: keeper })).json
    const { metadata } = await fresh(spec)
    await inTurns([...writes(metadata.name, { metadata, spec }, change(spec)).keys()], async (index) => {
      const { metadata, token } = await fresh(spec)
      const attack = writes(metadata.name, { metadata, spec }, change(spec))[index]
      if (!attack) throw new Error('as many as before')
      const reply = await send({ ...attack, token })
      const { method, headers, path } = attack
      expect([method, headers, path, sound(reply)]).toEqual([method, headers, path, true])
      if (reply.status >= 300) return
      expect(await confined(token)).toEqual([403, 403])
      const { user, groups } = await self(token)
      expect([user.name, groups]).toEqual(['alice', expect.not.arrayContaining(['system:masters'])])
      const { status } = (await send({ path: `${keys}/${metadata.name}`, token: server.adminKey })).json
      const end = Date.parse(metadata.creationTimestamp) + 3_600_000
      expect([status.owner, Date.parse(status.expirationTimestamp)]).toEqual(['alice', end])
    })
  })

  test('makes none that is not, by POST and by apply', async () => {
    const scopes = [
      undefined,
      null,
      {},
      { rules: [{}] },
      { projects: [{ project: '*' }] },
      { roles: [{ role: 'platformCLI' }] },
    ]
    for (const [index, scope] of scopes.entries()) {
      const spec = { user: 'alice', ttl: 600, ...(scope !== undefined && { scope }) }
      const posted = await send({ method: 'POST', path: keys, token: keeper, body: key(`made-${index}`, spec) })
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      const applied = await send({
        method: 'PATCH',
        path: `${keys}/applied-${index}?fieldManager=x&force=true`,
        token: keeper,
        headers,
        body: key(`applied-${index}`, spec),
      })
      // An apply refuses null where a create drops it.
      for (const { status, json } of scope === null ? [posted] : [posted, applied]) {
        expect([status, json.message]).toEqual([201, undefined])
        expect(await confined(json.spec.key)).toEqual([403, 403])
        // And no grandchild either.
        const child = await send({
          method: 'POST',
          path: keys,
          token: json.spec.key,
          body: { ...key('', { ttl: 60 }), metadata: { generateName: 'child-' } },
        })
        if (child.status === 201) expect(await confined(child.json.spec.key)).toEqual([403, 403])
      }
    }
  })

  test('makes no token that is not', async () => {
    const { scope } = (await send({ path: `${keys}/keeper`, token: keeper })).json.spec
    for (const spec of [{}, { scope: { clusters: [{ cluster: '*' }] } }, { scope: { rules: [{}] } }]) {
      const path = `${management}/directclusterendpointtokens`
      const { status, json } = await send({ method: 'POST', path, token: keeper, body: { spec } })
      expect(status).toBe(201)
      const [, claims = ''] = json.status.token.split('.')
      const { [apiVersion.replace('/v1', '')]: own } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      expect(JSON.parse(own.scopes)[0]).toEqual(scope)
    }
  })

  test('makes none by an apply where it may only patch', async () => {
    const patching = await make('patching', { user: 'alice', scope: { rules: [{ verbs: ['patch', 'get'] }] } })
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const [path, body] = [`${keys}/patched?fieldManager=x&force=true`, key('patched', { user: 'alice' })]
    await refused([{ method: 'PATCH', path, token: patching, headers, body }], [403])
    await refused([{ path: `${keys}/patched`, token: server.adminKey }], [404])
  })

  test('leaves keys alone that are less confined', async () => {
    for (const name of ['alice', 'ci', 'reader']) {
      const live = (await send({ path: `${keys}/${name}`, token: keeper })).json
      const { spec } = live
      for (const next of [
        { ...spec, disabled: true },
        { ...spec, scope: { rules: [{}] } },
        { ...spec, key: 'a-key-of-my-own-that-is-long-enough' },
        { ...spec, description: 'x' },
      ])
        for (const attack of writes(name, live, next)) {
          const { status } = await send({ ...attack, token: keeper })
          expect([attack, [200, 400, 403, 404, 409, 415, 422].includes(status)]).toEqual([attack, true])
        }
      expect((await send({ path: `${keys}/${name}`, token: server.adminKey })).json.spec).toEqual(spec)
    }
    expect((await self(alice)).accessKey).toBe('alice')
  })
})

describe('privileges', () => {
  const groupsOf = ['dev', 'system:authenticated']

  test('are not to be had by making a key for others, or with more than one has', async () => {
    const specs: object[] = [
      { user: 'bob' },
      { user: 'root' },
      { user: 'Alice' },
      { user: 'alice ' },
      { user: 'alice\u0000' },
      { user: 'system:admin' },
      { user: 'team:red' },
      { user: '__proto__' },
      { team: 'red' },
      { team: 'alice' },
      { subject: 'alice' },
      { subject: 'bob' },
      { user: 'alice', team: 'red' },
      { user: 'alice', subject: 'bob' },
      { groups: ['system:masters'] },
      { groups: ['dev', 'ops'] },
      { groups: ['team:red'] },
      { groups: ['system:authenticated', 'system:masters'] },
      { groups: ['SYSTEM:MASTERS'] },
      { groups: ['system:masters\u200b'] },
      { groups: [''], user: 'bob' },
      { type: 'Login' },
      { type: 'Reset' },
      { type: 'OIDCRefreshToken' },
      { type: 'NetworkPeer' },
      { type: 'Workspace' },
      { type: 'user' },
      { type: ['User'] },
    ]
    const posts = specs.map((spec, index) => ({
      method: 'POST',
      path: keys,
      token: alice,
      body: key(`grab-${index}`, spec),
    }))
    const applies = specs.map((spec, index) => ({
      method: 'PATCH',
      path: `${keys}/grab-${index}?fieldManager=x&force=true`,
      token: alice,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: key(`grab-${index}`, spec),
    }))
    await refused([...posts, ...applies], [400, 403, 422])
  })

  test('are not in data that say who somebody is', async () => {
    const claims: object[] = [
      {
        identity: {
          userId: 'bob',
          username: 'root',
          groups: ['system:masters', 'ops', 'team:red'],
          email: 'root@example.com',
          extraClaims: { groups: 'system:masters' },
        },
      },
      { parent: 'victim' },
      { oidcProvider: { clientId: 'x', scopes: 'system:masters' } },
      { oidcLogin: { idToken: 'eyJhbGciOiJub25lIn0.eyJncm91cHMiOlsic3lzdGVtOm1hc3RlcnMiXX0.', accessToken: 'x' } },
      { displayName: 'root', description: 'system:masters' },
    ]
    for (const [index, spec] of claims.entries()) {
      const body = {
        ...key(`claim-${index}`, spec),
        status: { owner: 'root', phase: 'Active', lastActivity: '2020-01-01T00:00:00Z' },
      }
      const { status, json } = await send({ method: 'POST', path: keys, token: alice, body })
      expect(status).toBe(201)
      const { subject, groups } = await self(json.spec.key)
      expect(['alice', groups.filter((group: string) => !groupsOf.includes(group))]).toEqual([subject, []])
      await refused([{ path: `${keys}/victim`, token: json.spec.key }], [404])
    }
  })

  test('are not to be had by changing a key', async () => {
    await send({ method: 'POST', path: keys, token: alice, body: key('mine', { user: 'alice', groups: ['dev'] }) })
    const live = async () => (await send({ path: `${keys}/mine`, token: alice })).json
    const changes: Record<string, unknown>[] = [
      { groups: ['dev', 'system:masters'] },
      { groups: [] },
      { user: 'bob' },
      { user: '' },
      { team: 'red' },
      { subject: 'root' },
      { type: 'Login' },
    ]
    for (const change of changes) {
      const { spec } = await live()
      for (const attack of writes('mine', await live(), { ...spec, ...change })) await send({ ...attack, token: alice })
      const after = await live()
      expect([
        change,
        after.spec.user,
        after.spec.groups ?? [],
        after.spec.team,
        after.spec.subject,
        after.spec.type,
      ]).toEqual([change, 'alice', ['dev'], undefined, undefined, undefined])
    }
  })

  test('over the keys of others are nobody’s, by no verb', async () => {
    const patch = (type: string, body: unknown, name: string, query = '') => ({
      method: 'PATCH',
      path: `${keys}/${name}${query}`,
      headers: { 'content-type': `application/${type}` },
      body,
    })
    const attacks = ['victim', 'of-team', 'of-subject', 'auditor', 'dead'].flatMap((name) => [
      { path: `${keys}/${name}` },
      { path: `${keys}/${name}/status` },
      { method: 'PUT', path: `${keys}/${name}`, body: key(name, { user: 'alice' }) },
      {
        method: 'PUT',
        path: `${keys}/${name}/status`,
        body: key(name, {}, { status: { lastActivity: '2020-01-01T00:00:00Z' } }),
      },
      patch('merge-patch+json', { spec: { user: 'alice' } }, name),
      patch('merge-patch+json', { spec: { key: 'a-key-of-my-own-that-is-long-enough' } }, name),
      patch('json-patch+json', [{ op: 'test', path: '/spec/user', value: 'bob' }], name),
      patch('json-patch+json', [{ op: 'remove', path: '/metadata/finalizers' }], name),
      { method: 'DELETE', path: `${keys}/${name}` },
      {
        method: 'DELETE',
        path: `${keys}/${name}?propagationPolicy=Foreground&gracePeriodSeconds=0`,
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: {} },
      },
    ])
    await refused(
      attacks.flatMap((attack) => [alice, keeper].map((token) => ({ ...attack, token }))),
      [404],
    )
    const applied = ['victim', 'of-team'].map((name) =>
      patch('apply-patch+yaml', key(name, { user: 'alice' }), name, '?fieldManager=x&force=true'),
    )
    await refused(
      applied.map((attack) => ({ ...attack, token: alice })),
      [404],
    )
    for (const query of ['', '?fieldSelector=metadata.name%3Dvictim', '?fieldSelector=spec.user%3Dbob', '?dryRun=All'])
      await send({ method: 'DELETE', path: `${keys}${query}${query ? '&' : '?'}labelSelector=nothing`, token: alice })
    await send({ method: 'DELETE', path: `${keys}?fieldSelector=metadata.name%3Dvictim`, token: alice })
  })

  test('of an instance’s owner end where kube configs lead', async () => {
    const path = `${instances('p-a')}/x`
    const live = (await send({ path, token: alice })).json
    const changes = [
      { owner: { user: 'alice', team: 'red' } },
      { owner: null },
      { access: [{ verbs: ['*'], users: ['bob'] }] },
      { accessPoint: { ingress: { host: 'evil.example.com' } } },
      { accessPoint: null },
      { certificateAuthorityData: 'eA==' },
      { credentialsSecretRef: { secretName: 'p-b/x' } },
      { credentialsSecretRef: { secretName: '../../pepper' } },
    ]
    const attacks = changes.flatMap((change): Attack[] => [
      { method: 'PUT', path, token: alice, body: { ...live, spec: { ...live.spec, ...change } } },
      {
        method: 'PATCH',
        path,
        token: alice,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: change },
      },
      {
        method: 'PATCH',
        path: `${path}?fieldManager=x&force=true`,
        token: alice,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { apiVersion, kind: 'VirtualClusterInstance', metadata: { name: 'x' }, spec: change },
      },
      {
        method: 'PATCH',
        path: `${path}/status`,
        token: alice,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: change, status: { phase: 'x' } },
      },
    ])
    for (const attack of attacks) expect(sound(await send(attack))).toBe(true)
    expect((await send({ path, token: server.adminKey })).json.spec).toEqual(live.spec)
    const secrets = [
      '../pepper',
      '..',
      'p-b/../../pepper',
      '/pepper',
      'arn:aws:secretsmanager:eu-central-1:000000000000:secret:keyplane/local/pepper',
      'a//b',
      'p-b%2f',
      'x\u0000y',
    ]
    for (const secretName of secrets) {
      const spec = { credentialsSecretRef: { secretName }, accessPoint: { ingress: { host: 'vc.example.com' } } }
      const body = { apiVersion, kind: 'VirtualClusterInstance', metadata: { generateName: 'ref-' }, spec }
      const { json, status } = await send({ method: 'POST', path: instances('p-c'), token: server.adminKey, body })
      if (status === 422) continue
      const { status: answer, text } = await send({
        method: 'POST',
        path: `${instances('p-c')}/${json.metadata.name}/kubeconfig`,
        token: server.adminKey,
        body: { spec: { clientCert: true } },
      })
      expect([secretName, answer >= 400, /peppers/.test(text)]).toEqual([secretName, true, false])
      await send({ method: 'DELETE', path: `${instances('p-c')}/${json.metadata.name}`, token: server.adminKey })
    }
  })
})

describe('what is hidden', () => {
  test('is not found by selectors', async () => {
    const fields = [
      'spec.key',
      'spec.identity.connectorData',
      'spec.oidcLogin.idToken',
      'metadata.uid',
      'spec',
      'internal',
      'credential',
      '__proto__',
      'constructor.name',
      'spec.groups',
    ]
    await refused(
      fields.flatMap((field) =>
        ['', '&watch=1'].map((more) => ({ path: `${keys}?fieldSelector=${field}%3Dx${more}`, token: alice })),
      ),
      [400],
    )
  })

  test('is not found by tests of patches, whose answer for a right guess is that for a wrong one', async () => {
    const secret = 'connector-data-of-the-identity'
    const made = await send({
      method: 'POST',
      path: keys,
      token: alice,
      body: key('guessed', { identity: { connectorData: secret, username: 'a' } }),
    })
    const guess = async (path: string, value: string, then: object[] = []) => {
      const body = [{ op: 'test', path, value }, ...then]
      const { status, text } = await send({
        method: 'PATCH',
        path: `${keys}/guessed`,
        token: alice,
        headers: { 'content-type': 'application/json-patch+json' },
        body,
      })
      return [status, text.replaceAll(value, 'VALUE')]
    }
    for (const [path, right] of [
      ['/spec/key', made.json.spec.key],
      ['/spec/identity/connectorData', secret],
    ] as const) {
      const wrong = right.replace(/.$/, '~')
      expect(await guess(path, right)).toEqual(await guess(path, wrong))
      expect((await guess(path, right))[0]).toBe(422)
    }
    const copies = ['/spec/key', '/spec/identity/connectorData'].flatMap((from) =>
      ['copy', 'move'].map((op) => ({ op, from, path: '/spec/description' })),
    )
    for (const operation of copies) {
      const { status, text } = await send({
        method: 'PATCH',
        path: `${keys}/guessed`,
        token: alice,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [operation],
      })
      // Like kube-apiserver, which copies null from where nothing is.
      expect([operation, status]).toEqual([operation, operation.op === 'copy' ? 200 : 422])
      expect(text).not.toContain(secret)
      expect(text).not.toContain(made.json.spec.key)
    }
  })
})

describe('credentials of virtual clusters', () => {
  const ran = join(tmpdir(), `keyplane-hostile-${process.pid}`)
  const config = (user: object, cluster: object = {}, more: object = {}) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
      users: [{ name: 'a', user }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
      ...more,
    })
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', `touch ${ran}`] }

  test.each<[string, string]>([
    ['exec', config({ exec })],
    ['exec', config({ token: 't', exec })],
    [
      'auth-provider',
      config({ 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh', 'cmd-args': `-c "touch ${ran}"` } } }),
    ],
    ['tokenFile', config({ tokenFile: '/etc/passwd' })],
    ['client-certificate', config({ 'client-certificate': '/etc/passwd', 'client-key': '/etc/passwd' })],
    ['certificate-authority', config({ token: 't' }, { 'certificate-authority': '/etc/passwd' })],
    ['insecure-skip-tls-verify', config({ token: 't' }, { 'insecure-skip-tls-verify': true })],
    ['proxy-url', config({ token: 't' }, { 'proxy-url': 'http://169.254.169.254' })],
    ['tls-server-name', config({ token: 't' }, { 'tls-server-name': 'x' })],
    ['username', config({ username: 'a', password: 'b' })],
    ['as', config({ token: 't', as: 'root', 'as-groups': ['system:masters'] })],
    ['server', config({ token: 't' }, { server: 'http://169.254.169.254/latest/meta-data' })],
    ['server', config({ token: 't' }, { server: 'file:///etc/passwd' })],
    ['server', config({ token: 't' }, { server: 'unix:///var/run/docker.sock' })],
    ['token', config({ token: 'a\r\nX-Injected: 1' })],
    ['the secret', `!!js/function 'function(){ require("fs").writeFileSync("${ran}", "") }'`],
    ['the secret', '{"__proto__":{"token":"t"}'],
  ])('that would run or read something (%s) are refused by name', async (member, secret) => {
    const name = `vc-${Math.abs(hash(member + secret))}`
    const spec = { accessPoint: { ingress: { host: 'vc.example.com' } } }
    await server.make(below.instances('p-d'), below.instance(name, spec))
    await server.keepCredentials(`p-d/${name}`, secret)
    const { status, json, text } = await send({
      method: 'POST',
      path: `${instances('p-d')}/${name}/kubeconfig`,
      token: server.adminKey,
      body: { spec: { clientCert: true } },
    })
    expect([status, json.reason]).toEqual([503, 'ServiceUnavailable'])
    expect(json.message).toContain(member)
    expect(text).not.toMatch(/root:|169\.254|passwd|touch/)
    expect(existsSync(ran)).toBe(false)
  })

  const hash = (text: string) => [...text].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) | 0, 7)
})

describe('bodies', () => {
  const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
  const json = (spec: string) =>
    `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"generateName":"body-"},"spec":${spec}}`

  const bodies: [string, string | Buffer][] = [
    ['nothing', ''],
    ['null', 'null'],
    ['a number', '1e999'],
    ['a list', '[]'],
    ['text', '"OwnedAccessKey"'],
    ['half an object', '{"spec":'],
    ['two objects', `${json('{}')}${json('{}')}`],
    ['a byte order mark', `\ufeff${json('{}')}`],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a NUL', `{"spec":{"user":"a${'\u0000'}b"}}`],
    ['deep objects', deep('{"a":', '1}', 50_000).replace('1}1}', '1}}')],
    ['deep lists', json(deep('[', ']', 100_000))],
    ['deep lists where text belongs', json(`{"user":${deep('[', ']', 5000)}}`)],
    ['numbers that are none', json('{"ttl":1e400}')],
    ['numbers that are too large', json('{"ttl":99999999999999999999999999}')],
    ['long numbers', json(`{"ttl":${'9'.repeat(500_000)}}`)],
    ['small numbers', json('{"ttl":-9223372036854775808}')],
    ['half numbers', json('{"ttl":0.5}')],
    ['other types everywhere', json('{"user":1,"groups":"x","scope":true,"disabled":"yes","identity":[],"ttl":"1"}')],
    ['other types in metadata', '{"apiVersion":"management.platform/v1","kind":"OwnedAccessKey","metadata":[]}'],
    ['labels of another type', '{"metadata":{"name":"a","labels":{"a":{}}}}'],
    [
      'owners without end',
      `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"a","ownerReferences":[${Array.from({ length: 2000 }, (_, index) => `{"apiVersion":"v1","kind":"a","name":"a","uid":"${index}"}`).join(',')}]}}`,
    ],
    ['a key of another', json('{"key":"x"}')],
    ['a JWT for a key', json('{"key":"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLXNvbWVib2R5"}')],
    ['a name that is a path', `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"../victim"}}`],
    [
      'a name that is a prototype',
      `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"__proto__"}}`,
    ],
    [
      'a long name',
      `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"${'a'.repeat(300_000)}"}}`,
    ],
    ['a wide scope', json(`{"scope":{"projects":[${Array(3000).fill('{"project":"a"}').join(',')}]}}`)],
    ['another kind', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}'],
    ['more than 3 MiB', json(`{"description":"${'a'.repeat(3 * 1024 * 1024)}"}`)],
  ]

  test.each(bodies)('%s', async (_, body) => {
    await refused([{ method: 'POST', path: keys, token: alice, body }])
    const made = await send({ method: 'POST', path: keys, token: alice, body: json('{"user":"alice"}') })
    const target = `${keys}/${made.json.metadata.name}`
    const put = [{ method: 'PUT', path: target, token: alice, body }]
    const patches = ['json-patch+json', 'merge-patch+json', 'apply-patch+yaml', 'strategic-merge-patch+json'].map(
      (type) => ({
        method: 'PATCH',
        path: `${target}?fieldManager=x`,
        token: alice,
        headers: { 'content-type': `application/${type}` },
        body,
      }),
    )
    const others = [
      `${management}/directclusterendpointtokens`,
      `${instances('p-a')}/x/kubeconfig`,
      `${management}/selves`,
      `${base}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`,
    ].map((path) => ({ method: 'POST', path, token: alice, body }))
    for (const attack of [
      ...put,
      ...patches,
      ...others,
      { method: 'DELETE', path: `${keys}/nothing`, token: alice, body },
    ]) {
      const reply = await send(attack)
      expect([attack.method, attack.path, sound(reply)]).toEqual([attack.method, attack.path, true])
    }
    expect((await self(made.json.spec.key)).groups).toEqual(['system:authenticated'])
  })

  test('names of prototypes are names', async () => {
    const evil = '{"groups":["system:masters"],"scope":null,"allowed":true,"status":500}'
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then']
    for (const name of names) {
      const spec = `{"${name}":${evil},"identity":{"extraClaims":{"${name}":"x"},"${name}":${evil}},"scope":{"${name}":${evil}}}`
      const posted = await send({ method: 'POST', path: keys, token: alice, body: json(spec) })
      // One of them no body may have.
      expect([name, posted.status]).toEqual([name, name === '__proto__' ? 400 : 201])
      const { json: made } =
        posted.status === 201 ? posted : await send({ method: 'POST', path: keys, token: alice, body: json('{}') })
      expect((await self(made.spec.key)).groups).toEqual(['system:authenticated'])
      const path = `${keys}/${made.metadata.name}`
      const type = (one: string) => ({ 'content-type': `application/${one}` })
      const attacks = [
        {
          headers: type('merge-patch+json'),
          body: `{"${name}":${evil},"spec":{"${name}":${evil}},"metadata":{"${name}":${evil},"labels":{"${name}":"x"}}}`,
        },
        { headers: type('json-patch+json'), body: [{ op: 'add', path: `/${name}/groups`, value: ['system:masters'] }] },
        {
          headers: type('json-patch+json'),
          body: [{ op: 'add', path: `/spec/${name}`, value: { groups: ['system:masters'] } }],
        },
        { headers: type('json-patch+json'), body: [{ op: 'copy', from: `/${name}`, path: '/spec/description' }] },
        { headers: type('json-patch+json'), body: [{ op: 'test', path: `/spec/${name}/name`, value: 'Object' }] },
        { headers: type('json-patch+json'), body: [{ op: name, path: '/spec' }] },
        {
          headers: type('apply-patch+yaml'),
          body: `apiVersion: ${apiVersion}\nkind: OwnedAccessKey\nmetadata: {name: ${made.metadata.name}, labels: {${name}: x}}\n${name}: ${evil}\n`,
        },
      ]
      for (const attack of attacks)
        expect(
          sound(await send({ method: 'PATCH', path: `${path}?fieldManager=x&force=true`, token: alice, ...attack })),
        ).toBe(true)
      const after = await self(made.spec.key)
      expect([after.groups, after.subject]).toEqual([['system:authenticated'], 'alice'])
    }
    // The functions run in this process.
    expect(({} as { groups?: unknown }).groups).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test('what is said twice is said once: no first and second meaning', async () => {
    const twice = [
      '{"user":"alice","user":"bob"}',
      '{"user":"bob","user":"alice","groups":["dev"],"groups":["system:masters"]}',
      '{"user":"alice","us\\u0065r":"bob"}',
    ]
    await refused(
      twice.map((spec) => ({ method: 'POST', path: `${keys}?fieldValidation=Strict`, token: alice, body: json(spec) })),
      [400],
    )
    await refused(
      twice.map((spec) => ({ method: 'POST', path: keys, token: alice, body: json(spec) })),
      [403],
    )
    const once = await send({ method: 'POST', path: keys, token: alice, body: json('{"user":"bob","user":"alice"}') })
    expect((await self(once.json.spec.key)).subject).toBe('alice')
  })

  test('YAML runs nothing and grows no larger than it is', async () => {
    const laughs = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghij'
        .split('')
        .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(',')}]`),
    ].join('\n')
    const texts = [
      laughs,
      `apiVersion: ${apiVersion}\nkind: OwnedAccessKey\nspec: &s\n  user: *s\n`,
      'spec: !!js/function "function(){}"',
      'spec: !!python/object/apply:os.system ["true"]',
      'spec: !<tag:yaml.org,2002:js/undefined> ""',
      `apiVersion: ${apiVersion}\nkind: OwnedAccessKey\n---\napiVersion: ${apiVersion}\nkind: OwnedAccessKey\n`,
      '%YAML 9.9\n---\n{}',
      `? ${'['.repeat(20_000)}`,
      `${'- '.repeat(50_000)}x`,
      `a: ${'"\\x'.repeat(1000)}`,
      '\t\ta: b',
      '<<: {user: bob}',
      `&a ${'*a '.repeat(1000)}`,
    ]
    const headers = { 'content-type': 'application/yaml' }
    await refused(texts.map((body) => ({ method: 'POST', path: keys, token: alice, headers, body })))
    const merged = `apiVersion: ${apiVersion}\nkind: OwnedAccessKey\nmetadata: {generateName: yaml-}\nspec:\n  <<: {groups: [system:masters]}\n  user: alice\n`
    const { status, json: made } = await send({ method: 'POST', path: keys, token: alice, headers, body: merged })
    expect([201, 400, 403, 422]).toContain(status)
    if (status === 201) expect((await self(made.spec.key)).groups).toEqual(['system:authenticated'])
  })

  test('patches without measure', async () => {
    const patch = (type: string, body: unknown) => ({
      method: 'PATCH',
      path: `${keys}/alice`,
      token: alice,
      headers: { 'content-type': `application/${type}` },
      body,
    })
    const grow = [
      { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(1000) } },
      ...Array.from({ length: 40 }, () => ({
        op: 'copy',
        from: '/metadata/annotations',
        path: '/metadata/annotations/b',
      })),
    ]
    await refused([
      patch('json-patch+json', grow),
      patch('json-patch+json', Array(20_000).fill({ op: 'test', path: '/kind', value: 'OwnedAccessKey' })),
      patch('json-patch+json', [{ op: 'add', path: '/spec/groups/1000000000', value: 'x' }]),
      patch('json-patch+json', [{ op: 'add', path: '/spec/groups/-1', value: 'x' }]),
      patch('json-patch+json', [{ op: 'add', path: `/spec${'/a'.repeat(50_000)}`, value: 'x' }]),
      patch('json-patch+json', [{ op: 'move', from: '/spec', path: '/spec/identity' }]),
      patch('json-patch+json', [{ op: 'remove', path: '' }]),
      patch('json-patch+json', [{ op: 'replace', path: '', value: {} }]),
      patch('json-patch+json', [{ op: 'replace', path: '/metadata/name', value: 'victim' }]),
      patch('json-patch+json', [{ op: 'replace', path: '/metadata/uid', value: 'x' }]),
      patch('json-patch+json', [{ op: '_get', path: '/spec' }]),
      patch('json-patch+json', {}),
      patch('merge-patch+json', deep('{"metadata":', '{}}', 20_000)),
      patch('merge-patch+json', { metadata: { name: 'victim' } }),
      patch('merge-patch+json', { kind: 'Secret' }),
      patch('merge-patch+json', { metadata: null }),
      patch('text/plain', 'x'),
    ])
  })

  test('answers in no form that nobody asked for', async () => {
    const accepts = [
      'text/html',
      'image/svg+xml',
      'application/xml',
      'application/json;as=Nonsense',
      'application/vnd.kubernetes.protobuf',
      '*/*;q=abc',
      ','.repeat(5000),
      'x'.repeat(7000),
    ]
    for (const accept of accepts) {
      const { status, text } = await send({ path: `${keys}/%3Cscript%3E`, token: alice, headers: { accept } })
      expect([accept.slice(0, 40), status < 500]).toEqual([accept.slice(0, 40), true])
      expect(text).not.toContain('<script>')
    }
  })
})

test('after all of that, everything that belongs to others is as it was', async () => {
  expect(untouched).toHaveLength(7)
  expect(await others()).toEqual(untouched)
})
