/** Tests the history and the family of keys, against the whole API. */
import { beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../../lib/engine/storage/keys.ts'
import { historyItem, historyPartition } from '../../lib/keys/history/items.ts'
import { noticeAddress } from '../../lib/keys/history/newaddress.ts'
import { madeWith } from '../../lib/keys/ownedaccesskey.table.ts'
import { OwnedAccessKeyHistory } from '../../lib/keys/ownedaccesskeyhistory.ts'
import { unhurried } from '../support/deadlines.ts'
import { keys } from '../support/objects.ts'
import type { MadeKey } from '../support/server.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'
import { admin, contextOf } from '../support/users.ts'

const server = useServer()
beforeAll(publishEvents)

interface Event {
  type: string
  actor?: { user: string; accessKey?: string; accessKeyUid?: string }
  fields?: string[]
}

const historyOf = async ({ name }: Pick<MadeKey, 'name'>, token?: string) => {
  await publishEvents()
  const { status, json } = await server.call(`${keys}/${name}/history`, { ...(token && { token }) })
  expect([status, json.kind]).toEqual([200, 'OwnedAccessKeyHistory'])
  return json
}
const eventsOf = async (key: Pick<MadeKey, 'name'>, token?: string): Promise<Event[]> =>
  (await historyOf(key, token)).status.events
const patch = async ({ name }: Pick<MadeKey, 'name'>, spec: object, token?: string) =>
  expect((await server.patch(`${keys}/${name}`, { spec }, ...(token ? [token] : []))).status).toBe(200)
const rule = (verbs: string[], ...resources: string[]) => ({
  verbs,
  resources: [{ group: 'management.platform', resources }],
})
const mine = { rules: [rule(['*'], 'ownedaccesskeys', 'ownedaccesskeys/history')] }

describe('history', () => {
  test('has who made and changed a key and its values, and where it was used from', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const key = await server.makeKey({}, {}, alice.token)
    await server.call(keys, { token: key.token })
    await patch(key, { displayName: 'CI', ttl: 3600 }, alice.token)
    await server.post(`${keys}/${key.name}/rotate`, {}, alice.token)
    await patch(key, { disabled: true }, alice.token)
    const { metadata, status } = await historyOf(key)
    expect(metadata).toMatchObject({ name: key.name, uid: key.uid })
    const actor = { user: 'alice', accessKey: alice.name, accessKeyUid: alice.uid }
    expect(
      status.events.map(({ time: _, userAgent: __, ...event }: { time: string; userAgent?: string }) => event),
    ).toEqual(
      expect.arrayContaining([
        { type: 'created', actor },
        { type: 'first-used', ip: '127.0.0.1' },
        { type: 'changed', actor, fields: ['spec.displayName', 'spec.ttl'] },
        { type: 'rotation-started', actor, value: 2, overlapSeconds: expect.any(Number) },
        { type: 'revoked', actor, how: 'Disabled' },
      ]),
    )
    expect(status.events).toHaveLength(5)
    expect(status.events.at(-1).type).toBe('created')
    const { creationTimestamp } = metadata
    expect([status.since, status.madeSince, status.madeWith]).toEqual([
      creationTimestamp,
      creationTimestamp,
      { name: alice.name, uid: alice.uid },
    ])
    expect(JSON.stringify(status)).not.toContain('CI')
  })

  test('has new addresses', async () => {
    const key = await server.makeKey({ user: 'alice' })
    const at = Math.floor(Date.now() / 1000)
    const sources = [{ ip: '127.0.0.1', userAgent: '', at }]
    const noticed = noticeAddress({ uid: key.uid, sources }, { ip: '2001:db8::1' }, at)
    if (!noticed) throw new Error('it is not new')
    await server.parts.storage.writeCompanion(noticed.item, unhurried)
    expect(await eventsOf(key)).toContainEqual(expect.objectContaining({ type: 'new-address', ip: '2001:db8::1' }))
  })

  test('has no addresses once the deployment does not record them', async () => {
    const key = await server.makeKey({ user: 'alice' })
    await server.call(keys, { token: key.token })
    expect(JSON.stringify(await eventsOf(key))).toContain('127.0.0.1')
    const { keys: services } = server.parts
    const silent = { ...services, recordSources: false }
    const parts = new Proxy(server.parts, {
      get: (target, name) => (name === 'keys' ? silent : Reflect.get(target, name)),
    })
    const object = await OwnedAccessKeyHistory.read({ namespace: '', name: key.name, context: contextOf(admin) }, parts)
    expect(JSON.stringify(object)).not.toContain('127.0.0.1')
  })

  // threat: events-9
  test('is that of the key, not of an earlier one of its name', async () => {
    const name = 'again'
    const first = await server.makeKey({ user: 'alice' }, { name })
    await patch(first, { displayName: 'first' })
    expect(await eventsOf(first)).toHaveLength(2)
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    const second = await server.makeKey({ user: 'bob' }, { name })
    expect((await eventsOf(second)).map(({ type }) => type)).toEqual(['created'])
    expect((await server.parts.storage.queryCompanions(historyPartition(first.uid))).items).toEqual([])
  })

  // threat: events-5
  test('is shown to those who may read the key, and to nobody else', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const bob = await server.makeKey({ user: 'bob' })
    const only = { rules: [rule(['get'], 'ownedaccesskeys/history')] }
    const reader = await server.makeKey({ scope: only }, {}, alice.token)
    const both = await server.makeKey({ scope: mine }, {}, alice.token)
    const read = async (token: string, name = alice.name) =>
      (await server.call(`${keys}/${name}/history`, { token })).status
    expect(await read(alice.token)).toBe(200)
    expect([await read(bob.token), await read(alice.token, 'nobody')]).toEqual([404, 404])
    expect([await read(reader.token), await read(both.token), await read(both.token, both.name)]).toEqual([
      403, 403, 200,
    ])
    const written = await server.call(`${keys}/${alice.name}/history`, {
      method: 'PATCH',
      body: {},
      token: alice.token,
    })
    expect(written.status).toBe(405)
    const { json } = await server.call(`${keys}/${alice.name}`)
    expect(Object.keys(json.status)).not.toContain('events')
  })

  // threat: events-5
  test('names other users and their keys to administrators only', async () => {
    const admin = await server.makeKey({ user: 'root', groups: ['system:masters'] })
    const key = await server.makeKey({ user: 'alice' }, {}, admin.token)
    await patch(key, { disabled: true }, admin.token)
    await patch(key, { disabled: false }, admin.token)
    const team = await server.makeKey({ team: 'shop', groups: ['team:shop'] }, {}, admin.token)
    for (const one of [key, team]) {
      const events = await eventsOf(one, one.token)
      expect(events.map(({ type }) => type)).toContain('created')
      expect(JSON.stringify(events)).not.toMatch(new RegExp(`root|${admin.name}|${admin.uid}`))
      expect((await eventsOf(one)).at(-1)?.actor).toEqual({
        user: 'root',
        accessKey: admin.name,
        accessKeyUid: admin.uid,
      })
    }
  })

  // threat: events-5
  test('names no key to a scoped reader that it may not read', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const named = (name: string) => ({
      rules: [
        {
          verbs: ['get', 'create'],
          resources: [
            {
              group: 'management.platform',
              resources: ['ownedaccesskeys', 'ownedaccesskeys/history'],
              resourceNames: [name],
            },
          ],
        },
      ],
    })
    const key = await server.makeKey({ scope: named('scoped-reader') }, { name: 'scoped-reader' }, alice.token)
    const { status } = await historyOf(key, key.token)
    expect(status.events.at(-1)).toMatchObject({ actor: { user: 'alice', accessKeyUid: alice.uid } })
    expect(JSON.stringify(status)).not.toContain(alice.name)
  })

  test('says what the server itself did', async () => {
    const key = await server.makeKey({ user: 'alice' })
    const url = 'https://example.com/found'
    const report = await server.call('/leaks', { method: 'POST', body: { credentials: [key.token], url } })
    expect(report.status).toBeLessThan(300)
    const events = await eventsOf(key)
    expect(events).toContainEqual(expect.objectContaining({ type: 'leaked', url }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'revoked', actor: { user: 'system:leak-report' } }))
  })

  // threat: events-7
  test('keeps the leak and the creation in sight when somebody changes the key again and again', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const key = await server.makeKey({}, {}, alice.token)
    await server.call('/leaks', { method: 'POST', body: { credentials: [key.token] } })
    await publishEvents()
    const at = Math.floor(Date.now() / 1000) + 1
    const changes = Array.from({ length: 200 }, (_, n) =>
      historyItem(key.uid, { kind: 'changed', at, detail: {} }, String(n)),
    )
    changes.push(historyItem(key.uid, { kind: 'new-address', at, detail: {} }, ''))
    for (const item of changes) await server.parts.storage.writeCompanion(item, unhurried)
    const events = await eventsOf(key)
    const types = events.map(({ type }) => type)
    expect(events).toHaveLength(50)
    expect(types).toEqual(expect.arrayContaining(['leaked', 'new-address']))
    expect(types.at(-1)).toBe('created')
  })
})

describe('family', () => {
  const madeOf = async (key: Pick<MadeKey, 'name'>, token?: string) =>
    (await historyOf(key, token)).status.made.map(
      ({ name, phase }: { name: string; phase: string }) => `${name} ${phase}`,
    )

  test('has what a key made, without the keys that are gone', async () => {
    const maker = await server.makeKey({ user: 'alice' })
    const make = (name: string) => server.makeKey({}, { name }, maker.token)
    const [, , two] = [await make('one'), await make('three'), await make('two')]
    await patch(two, { disabled: true })
    await server.call(`${keys}/three`, { method: 'DELETE' })
    await server.makeKey({ user: 'alice' }, { name: 'three' })
    expect((await madeOf(maker, maker.token)).sort()).toEqual(['one Active', 'two Disabled'])
    const { made, truncated } = (await historyOf(maker)).status
    expect(made[0]).toEqual({
      name: expect.any(String),
      uid: expect.any(String),
      made: expect.any(String),
      phase: expect.any(String),
    })
    expect(truncated).toBeUndefined()
  })

  // threat: events-5
  test('shows only keys that the reader may read, and whose maker it may know', async () => {
    const admin = await server.makeKey({ user: 'root', groups: ['system:masters'] })
    const [bobs, roots] = [
      await server.makeKey({ user: 'bob' }, {}, admin.token),
      await server.makeKey({}, {}, admin.token),
    ]
    expect((await madeOf(admin)).sort()).toEqual([`${bobs.name} Active`, `${roots.name} Active`].sort())
    const root = await server.makeKey({ user: 'root' })
    expect(await madeOf(admin, root.token)).toEqual([`${roots.name} Active`])
    // An administrator gives the maker to bob, who does not learn from it who made his key.
    await patch(admin, { user: 'bob', groups: [] })
    expect(await madeOf(admin, bobs.token)).toEqual([])
  })

  test('shows a scoped reader what its scope lets it read', async () => {
    const name = 'scoped-maker'
    const [makes, reads] = [
      rule(['create'], 'ownedaccesskeys'),
      rule(['get'], 'ownedaccesskeys', 'ownedaccesskeys/history'),
    ]
    const scope = { rules: [makes, { ...reads, resourceNames: [name, 'child-one'] }] }
    const maker = await server.makeKey({ user: 'alice', scope }, { name })
    for (const child of ['child-one', 'child-two']) await server.makeKey({}, { name: child }, maker.token)
    expect(await madeOf(maker, maker.token)).toEqual(['child-one Active'])
    expect(await madeOf(maker)).toHaveLength(2)
    const self = await server.makeKey({ user: 'alice', ttl: 3600, scope: { roles: [{ role: 'selfRotate' }] } })
    expect((await server.call(`${keys}/${self.name}/history`, { token: self.token })).status).toBe(403)
  })

  test('has a limit, and says so', async () => {
    const maker = await server.makeKey({ user: 'many' })
    const names = Array.from({ length: 100 }, (_, n) => `many-${n}`)
    for (const name of ['z-first', ...names.slice(1)]) await server.makeKey({}, { name }, maker.token)
    const read = async () => {
      const { made, truncated } = (await historyOf(maker, maker.token)).status
      return [made.map(({ name }: { name: string }) => name), truncated]
    }
    expect(await read()).toEqual([[...names.slice(1).reverse(), 'z-first'], undefined])
    await server.makeKey({}, { name: 'many-0' }, maker.token)
    expect(await read()).toEqual([['many-0', ...names.slice(1).reverse()], true])
    // What another key of its name made does not count.
    await server.call(`${keys}/${maker.name}`, { method: 'DELETE' })
    const again = await server.makeKey({ user: 'many' }, { name: maker.name })
    await server.makeKey({}, { name: 'many-again' }, again.token)
    expect(await madeOf(again, again.token)).toEqual(['many-again Active'])
  })

  test('of a maker of 5,000 keys has those whose names sort first, and says so', async () => {
    const maker = await server.makeKey({ user: 'mass' })
    for (const name of ['mass-1', 'mass-3']) await server.makeKey({}, { name }, maker.token)
    const pk = rowsOf('ownedaccesskeys', madeWith(maker.name))
    // The names of keys that are gone.
    const gone = Array.from({ length: 4999 }, (_, n) => ({ pk, sk: `mass-2-${n}`, attributes: { rv: 1 } }))
    await Promise.all(gone.map((item) => server.parts.storage.writeCompanion(item, unhurried)))
    expect(await madeOf(maker)).toEqual(['mass-1 Active'])
    expect((await historyOf(maker)).status.truncated).toBe(true)
  })
})

describe('a list of the keys that a key made', () => {
  const list = async (selector: string, token?: string, more: Record<string, string> = {}) => {
    const query = new URLSearchParams({ fieldSelector: selector, ...more })
    const { status, json } = await server.call(`${keys}?${query}`, { ...(token && { token }) })
    expect([selector, status]).toEqual([selector, 200])
    return json as { metadata: { continue?: string }; items: { metadata: { name: string } }[] }
  }
  const names = async (...asked: Parameters<typeof list>) =>
    (await list(...asked)).items.map(({ metadata }) => metadata.name)

  test('has them at once, in pages of one revision, and combines with other selectors', async () => {
    const admin = await server.makeKey({ user: 'root', groups: ['system:masters'] }, { name: 'l-maker' })
    const make = (name: string, user = 'dora', labels = {}) => server.makeKey({ user }, { name, labels }, admin.token)
    await make('l-1')
    await make('l-2', 'emil', { app: 'a' })
    const made = 'status.madeWith.name=l-maker'
    expect(await names(made)).toEqual(['l-1', 'l-2'])
    await publishEvents()
    await make('l-3', 'dora', { app: 'a' })
    expect(await names(made)).toEqual(['l-1', 'l-2', 'l-3'])
    const page = await list(made, undefined, { limit: '1' })
    for (const path of [`${keys}/l-2`, `${keys}/l-3`]) await server.call(path, { method: 'DELETE' })
    await publishEvents()
    await make('l-4')
    const { continue: next = '' } = page.metadata
    expect(await names(made, undefined, { limit: '9', continue: next })).toEqual(['l-2', 'l-3'])
    expect(await names(made)).toEqual(['l-1', 'l-4'])
    await make('l-2', 'emil', { app: 'a' })
    expect(await names(`${made},status.owner=dora`)).toEqual(['l-1', 'l-4'])
    expect(await names(made, undefined, { labelSelector: 'app=a' })).toEqual(['l-2'])
    expect(await names(made, undefined, { namePrefix: 'l-1' })).toEqual(['l-1'])
    expect(await names(`${made},metadata.name=l-4,status.madeWith.uid=${admin.uid}`)).toEqual(['l-4'])
    expect(await names(`${made},status.madeWith.uid=u`)).toEqual([])
    expect(await names(`${made},status.madeWith.name=other`)).toEqual([])
    expect(await names('status.madeWith.name!=l-maker,status.owner=dora')).toEqual([])
    for (const strange of ['L', 'l%2D', 'l-maker\\,x', '\u0000', '../l-maker', 'l'.repeat(2000)])
      expect(await names(`status.madeWith.name=${strange}`)).toEqual([])
    const { json } = await server.call(`${keys}?fieldSelector=status.madeWith=l-maker`)
    expect(json).toMatchObject({ code: 400, message: 'field label not supported: status.madeWith' })
    const watch = `${keys}?watch=1&timeoutSeconds=1&fieldSelector=${made}`
    const lines = (await server.call(watch)).text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line)).map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'ADDED l-1',
      'ADDED l-2',
      'ADDED l-4',
    ])
    // The key that made them may be gone, and another one have its name.
    await server.call(`${keys}/l-maker`, { method: 'DELETE' })
    await server.makeKey({ user: 'root' }, { name: 'l-maker' })
    await publishEvents()
    expect((await server.call(`${keys}?fieldSelector=${made}`, { method: 'DELETE' })).status).toBe(200)
    expect([await names(made), await names('metadata.name=l-maker')]).toEqual([[], ['l-maker']])
  })

  // threat: events-6
  test('tells nobody more than the keys themselves', async () => {
    const admin = await server.makeKey({ user: 'root', groups: ['system:masters'] }, { name: 'r-admin' })
    const finn = await server.makeKey({ user: 'finn' }, { name: 'r-finn' }, admin.token)
    const own = await server.makeKey({}, { name: 'r-own' }, finn.token)
    const { json } = await server.call(`${keys}/r-own`, { token: own.token })
    expect(json.status.madeWith).toEqual({ name: 'r-finn', uid: finn.uid })
    await publishEvents()
    // Finn does not learn who made his key. Its own status hides what the key of the request made, and a list finds it.
    for (const selector of ['status.madeWith.name=r-admin', `status.madeWith.uid=${admin.uid}`]) {
      expect([await names(selector, own.token), await names(selector)]).toEqual([[], ['r-finn']])
      expect(await names(selector.replace('=', '!='), own.token)).toEqual(['r-finn', 'r-own'])
    }
    for (const token of [finn.token, own.token, admin.token, undefined])
      expect(await names('status.madeWith.name=r-finn', token)).toEqual(['r-own'])
    const stranger = await server.makeKey({ user: 'gina' })
    expect(await names('status.madeWith.name=r-finn', stranger.token)).toEqual([])
    // A scope that does not allow reading the maker hides its name from an administrator, too.
    const scope = { rules: [rule(['list', 'create'], 'ownedaccesskeys')] }
    const groups = ['system:masters']
    const scoped = await server.makeKey({ user: 'root', groups, scope }, { name: 'r-scoped' })
    await server.makeKey({ user: 'finn' }, { name: 'r-made' }, scoped.token)
    expect(await names('status.madeWith.name=r-scoped')).toEqual(['r-made'])
    expect(await names('status.madeWith.name=r-scoped', scoped.token)).toEqual([])
    expect(await names(`status.madeWith.uid=${scoped.uid}`, scoped.token)).toEqual(['r-made'])
  })
})
