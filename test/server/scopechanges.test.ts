/** Tests what changes of scopes keep, against the whole API. */
import { beforeAll, describe, expect, test } from 'vitest'
import { startFederation, trusts } from '../support/federation.ts'
import { accessKey, instance, instances, keys } from '../support/objects.ts'
import { type Answer, applyPatch, type Call } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'

const server = useServer()

const project = (name: string) => ({ projects: [{ project: name }] })
const ofKeys = (verbs: string[], ...resources: string[]) => ({
  verbs,
  resources: [{ group: 'management.platform', resources }],
})
const wide = { projects: [{ project: 'a' }, { project: 'b' }] }
const small = project('a')

const read = async ({ name }: Pick<MadeKey, 'name'>): Promise<Answer['json']> =>
  (await server.call(`${keys}/${name}`)).json
const patch = ({ name }: Pick<MadeKey, 'name'>, spec: object, query = '') =>
  server.patch(`${keys}/${name}${query}`, { spec })

const list = ({ token }: MadeKey, name: string) => server.call(instances(`p-${name}`), { token })

// The history begins.
beforeAll(publishEvents)

describe('the former scope', () => {
  const patchAs = (type: string, body: unknown): Call => ({
    method: 'PATCH',
    body,
    headers: { 'content-type': `application/${type}` },
  })
  test.each<[string, (live: Answer['json'], scope: object) => Call]>([
    ['a PUT', (live, scope) => ({ method: 'PUT', body: { ...live, spec: { ...live.spec, scope } } })],
    ['a merge patch', (_, scope) => patchAs('merge-patch+json', { spec: { scope } })],
    ['a JSON patch', (_, value) => patchAs('json-patch+json', [{ op: 'replace', path: '/spec/scope', value }])],
    ['an apply', ({ metadata }, scope) => applyPatch({ ...accessKey(metadata.name), spec: { scope } })],
  ])('is kept by %s, also if it is repeated, and a dry run stores none', async (what, write) => {
    const key = await server.makeKey({ user: 'alice', scope: wide })
    const live = await read(key)
    expect(live.status.formerScope).toBeUndefined()
    const options = what === 'an apply' ? '?fieldManager=git&force=true' : '?fieldManager=git'
    const send = async (more = '') => server.call(`${keys}/${key.name}${options}${more}`, write(await read(key), small))
    const dry = await send('&dryRun=All')
    expect([dry.status, dry.json.status.formerScope.scope]).toEqual([200, wide])
    expect(await read(key)).toEqual(live)
    const { status, json } = await send()
    expect([status, json.spec.scope, json.status.formerScope.scope]).toEqual([200, small, wide])
    expect((await send()).json).toEqual(json)
  })

  // threat: usage-6
  test('is that of the last change, stays with every other change, and nobody can write it', async () => {
    const key = await server.makeKey({ user: 'alice', scope: wide })
    await patch(key, { scope: small })
    const { formerScope } = (await read(key)).status
    await server.patch(`${keys}/${key.name}`, { metadata: { labels: { a: 'b' } }, spec: { disabled: true } })
    await server.patch(`${keys}/${key.name}`, { status: { formerScope: { scope: {} } } })
    await server.patch(`${keys}/${key.name}/status`, { status: { formerScope: { scope: {} } } })
    expect((await server.post(`${keys}/${key.name}/rotate`, {})).status).toBe(201)
    expect((await read(key)).status.formerScope).toEqual(formerScope)
    await patch(key, { scope: null })
    const unscoped = (await read(key)).status.formerScope
    expect(unscoped.scope).toEqual(small)
    await patch(key, { scope: {} })
    const { formerScope: none } = (await read(key)).status
    expect(none).toEqual({ replaced: expect.any(String), until: expect.any(String) })
  })

  // threat: usage-6
  test('is never applied', async () => {
    const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope: wide })
    await patch(key, { scope: small })
    expect([(await list(key, 'a')).status, (await list(key, 'b')).status]).toEqual([200, 403])
  })

  test('is as large as a chain of scopes at most, and keeps no key from being changed', async () => {
    const long = (letter: string) => ({
      projects: Array.from({ length: 70 }, () => ({ project: letter.repeat(42) })),
    })
    const key = await server.makeKey({ user: 'alice', scope: long('a') })
    for (const letter of ['b', 'c']) expect((await patch(key, { scope: long(letter) })).status).toBe(200)
    expect((await patch(key, { scope: { projects: [...long('d').projects, ...long('e').projects] } })).status).toBe(422)
    expect((await patch(key, { disabled: true })).status).toBe(200)
    expect((await read(key)).status.formerScope.scope).toEqual(long('b'))
  })

  test('of a trust is kept, too', async () => {
    const federation = await startFederation(server)
    try {
      await federation.trust('narrowed', { scope: wide })
      const { json } = await server.patch(`${trusts}/narrowed`, { spec: { scope: small } })
      expect([json.spec.scope, json.status.formerScope.scope]).toEqual([small, wide])
      const described = await server.patch(`${trusts}/narrowed`, { spec: { description: 'x' } })
      expect(described.json.status.formerScope).toEqual(json.status.formerScope)
    } finally {
      await federation.close()
    }
  })
})

describe('a dry run that narrows the scope', () => {
  const warningsOf = ({ headers }: Answer): string[] =>
    [...String(headers.warning ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
      text.replaceAll('\\', ''),
    )
  const dry = '?dryRun=All'
  const today = new Date().toISOString().slice(0, 10)

  test('names the recorded requests that it would refuse, and the change itself does not', async () => {
    const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope: wide })
    for (const name of ['a', 'b']) await list(key, name)
    expect(warningsOf(await patch(key, { scope: small }, dry))).toEqual([
      `the new scope would refuse requests that access key "${key.name}" last made on ${today}: list of virtualclusterinstances in project "b"`,
    ])
    expect((await read(key)).spec.scope).toEqual(wide)
    expect(warningsOf(await patch(key, { description: 'x' }, dry))).toEqual([])
    expect(warningsOf(await patch(key, { scope: { projects: [...wide.projects, { project: 'c' }] } }, dry))).toEqual([])
    expect(warningsOf(await patch(key, { scope: { ...wide, roles: [{ role: 'view' }] } }, dry))).toEqual(
      ['a', 'b'].map((project) => expect.stringContaining(`list of virtualclusterinstances in project "${project}"`)),
    )
    const wrong = { projects: [{}], spaces: [{}], virtualClusters: [{}], rules: [{ verbs: [''], namespaces: ['*/'] }] }
    const invalid = await patch(key, { scope: wrong }, dry)
    expect([invalid.status, warningsOf(invalid)]).toEqual([422, []])
    expect(warningsOf(await patch(key, { scope: small }))).toEqual([])
    expect(warningsOf(await patch(key, { scope: wide }, dry))).toEqual([])
  })

  test('names a cluster that would no longer accept the key', async () => {
    const clusters = (...names: string[]) => ({ clusters: names.map((cluster) => ({ cluster })) })
    const key = await server.makeKey({ user: 'alice', scope: clusters('eu', 'us') })
    const agent = await server.makeKey({ scope: { roles: [{ role: 'agent' }], ...clusters('eu') } })
    await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: key.token } }, agent.token)
    expect(warningsOf(await patch(key, { scope: clusters('us') }, dry))).toEqual([
      `clusters/eu would no longer accept access key "${key.name}", as it last did on ${today}`,
    ])
  })

  test('names ten, and says how many there are', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}${'x'.repeat(40)}`)
    const key = await server.makeKey({
      user: 'alice',
      scope: { projects: names.map((name) => ({ project: name })) },
    })
    for (const name of names) await list(key, name)
    const warnings = warningsOf(await patch(key, { scope: small }, dry))
    expect([warnings.length, warnings.at(-1)]).toEqual([
      11,
      `2 more such warnings are left out: see the usage of access key "${key.name}"`,
    ])
  })

  // threat: usage-2
  test('names none to who may not read the usage, or may not make the change', async () => {
    const scope = { ...wide, rules: [ofKeys(['patch', 'get'], 'ownedaccesskeys')] }
    const key = await server.makeKey({ user: 'alice', scope })
    await list(key, 'b')
    const narrow = { spec: { scope: { ...scope, projects: small.projects } } }
    const own = await server.patch(`${keys}/${key.name}${dry}`, narrow, key.token)
    expect([own.status, warningsOf(own).join()]).toEqual([
      200,
      expect.stringContaining(`you may not read the usage of access key "${key.name}", so the requests that`),
    ])
    expect(own.text + own.headers.warning).not.toContain('virtualclusterinstances')
    const other = await server.makeKey({
      user: 'alice',
      scope: { rules: [ofKeys(['*'], 'ownedaccesskeys', 'ownedaccesskeys/*')] },
    })
    const refused = await server.patch(`${keys}/${key.name}${dry}`, narrow, other.token)
    expect([refused.status, warningsOf(refused)]).toEqual([403, []])
  })
})

describe('the scopes that changes with a scoped key have added', () => {
  const rotating = { rules: [ofKeys(['*'], 'ownedaccesskeys')] }
  /** Makes a key that has narrowed itself and has its former scope again. */
  const narrowed = async () => {
    const owner = await server.makeKey({ user: 'alice' })
    const born = { rules: [ofKeys(['*'], 'ownedaccesskeys'), ofKeys(['list'], 'virtualclusterinstances')] }
    const parent = await server.makeKey({ scope: born }, {}, owner.token)
    const key = await server.makeKey({ scope: { ...rotating, ...wide } }, {}, parent.token)
    await server.patch(`${keys}/${key.name}`, { spec: { scope: { ...rotating, projects: null } } }, key.token)
    await server.patch(`${keys}/${key.name}`, { spec: { scope: wide } }, key.token)
    return { owner, key }
  }
  const drop = ({ name }: MadeKey, token?: string, more: object = {}) =>
    server.patch(`${keys}/${name}`, { spec: { dropAddedScopes: true, ...more } }, token)

  // threat: usage-8
  test('are shown, limit the key, and are dropped by an owner without a scope, with a line in the history', async () => {
    const { owner, key } = await narrowed()
    expect((await read(key)).status.addedScopes).toEqual([rotating])
    expect((await list(key, 'b')).status).toBe(403)
    expect((await drop(key, key.token)).json.message).toContain('may not drop scopes that were added')
    const expiring = await server.makeKey({ user: 'alice', ttl: 3600 })
    expect((await drop(key, expiring.token)).json.message).toContain(
      'may not drop added scopes of one that could outlive',
    )
    expect((await drop(key, owner.token, { description: 'x' })).status).toBe(422)
    const { generation } = (await read(key)).metadata
    const dropped = await drop(key, owner.token)
    const { spec, status, metadata } = dropped.json
    expect([dropped.status, spec.dropAddedScopes, status.addedScopes]).toEqual([200, undefined, undefined])
    expect(metadata.generation).toBe(generation + 1)
    expect((await list(key, 'b')).status).toBe(200)
    // What the key was born with stays.
    const outside = await server.call(instances('p-b'), { method: 'POST', body: instance('z'), token: key.token })
    expect(outside.status).toBe(403)
    await publishEvents()
    const { events } = (await server.call(`${keys}/${key.name}/history`)).json.status
    expect(events).toContainEqual(expect.objectContaining({ type: 'changed', fields: ['status.addedScopes'] }))
    const again = await drop(key, owner.token)
    expect([again.status, again.json.metadata.resourceVersion]).toEqual([200, metadata.resourceVersion])
  })

  test('are dropped by no create', async () => {
    const made = await server.call(keys, { method: 'POST', body: accessKey('dropping', { dropAddedScopes: true }) })
    expect([made.status, made.json.message]).toEqual([
      422,
      expect.stringContaining('an update that changes nothing else'),
    ])
  })
})
