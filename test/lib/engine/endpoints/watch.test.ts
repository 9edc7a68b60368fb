/** Tests watches with a fake clock: bookmarks, waits, ends, and the time as of which they present objects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import type { EndpointServices, StoredCall } from '../../../../lib/engine/endpoints/call.ts'
import { listHandler } from '../../../../lib/engine/endpoints/handlers/list.ts'
import { runHandler } from '../../../../lib/engine/endpoints/run.ts'
import type { KubeObject } from '../../../../lib/engine/meta/types.ts'
import { createObject } from '../../../../lib/engine/registry/create.ts'
import { deleteObject } from '../../../../lib/engine/registry/delete.ts'
import type { Store } from '../../../../lib/engine/registry/store.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import { OwnedAccessKey } from '../../../../lib/keys/ownedaccesskey.ts'
import { createServer } from '../../../../lib/server/server.ts'
import { endless } from '../../../support/deadlines.ts'
import { startDeployment, type TestDeployment } from '../../../support/deployment.ts'
import { admin, contextOf } from '../../../support/users.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
  // Watches poll, as on AWS: the driver tells of no writes.
  deployment.store.around = ({ onWrite: _, ...items }) => items
})
afterAll(() => deployment?.stop())

const noon = new Date('2026-11-21T12:00:00Z')
const context = contextOf(admin, { now: noon })
let names = 0

const key = (name: string, spec: object): KubeObject => ({
  apiVersion: 'management.platform/v1',
  kind: 'OwnedAccessKey',
  metadata: { name },
  spec: { user: 'alice', ...spec },
})
const store = () => deployment.parts.storeOf(OwnedAccessKey)
const make = (name: string, spec: object = {}) =>
  createObject(store(), { object: key(name, spec), secrets: [] }, context)

interface Watched {
  /** Seconds since the start of the watch. */
  at: number
  line: string
}

/**
 * Returns everything that a watch sends until it ends. Time passes only while the watch sleeps, at least a second each time.
 * `when` runs a function at a given second.
 */
async function watch(
  query: Record<string, string>,
  {
    generation = () => 1,
    when = {},
    user = admin,
    waits = [],
    keep = async () => {},
    over = store(),
    oversleep,
    accept = 'application/json',
    limits = { maxSeconds: 120, quietSeconds: 0 },
  }: {
    /** Returns the generation of the key at a second, or undefined if the key is revoked. */
    generation?: (second: number) => number | undefined
    when?: Record<number, () => Promise<unknown>>
    user?: UserInfo
    /** Collects the requested durations of sleep. */
    waits?: number[]
    /** Keeps the watch counted. */
    keep?: (second: number) => Promise<void>
    over?: Store
    accept?: string
    /** Runs while the watch first sleeps, which then never ends. The next sleep is the least time between two reads. */
    oversleep?: () => Promise<unknown>
    limits?: EndpointServices['watchLimits']
  } = {},
): Promise<Watched[]> {
  let now = 0
  const plan = Object.entries(when).map(([second, act]) => ({ second: Number(second), act }))
  const services: EndpointServices = {
    checkAllowed: async () => {},
    allowedGeneration: ({ user }) => user.key.generation,
    explain: () => [],
    watchLimits: limits,
    currentGeneration: async () => generation(now / 1000),
    elapsed: () => now,
    every: () => () => {},
    openWatch: async () => ({ keep: () => keep(now / 1000), close: async () => {} }),
    async sleep(ms) {
      waits.push(ms)
      if (oversleep && waits.length === 1) {
        await oversleep()
        return new Promise(() => undefined)
      }
      now += Math.max(ms, 1000)
      const [next] = plan
      if (next && now >= next.second * 1000) {
        plan.shift()
        await next.act()
      }
    },
  }
  const kind = store().kind
  const call: StoredCall = {
    request: {
      method: 'GET',
      path: '/',
      namespace: '',
      name: '',
      subresource: '',
      query: new Map(Object.entries({ watch: 'true', ...query }).map(([name, value]) => [name, [value]])),
      headers: { accept },
      body: new Uint8Array(),
      user,
      requestId: 'r',
      now: noon,
      deadline: endless,
    },
    context: contextOf(user, { now: noon }),
    warnings: [],
    services,
    kind,
    store: over,
  }
  const { body } = await runHandler(listHandler, call, (error) => {
    throw error
  })
  const lines: Watched[] = []
  for await (const line of body as AsyncIterable<string>) lines.push({ at: Math.round(now / 1000), line })
  return lines
}

const newest = async () => String(await store().storage.revision(OwnedAccessKey.table))
const event = ({ line }: Watched) => JSON.parse(line)

describe('a watch', () => {
  test('presents an object as of the time when it is sent', async () => {
    const resourceVersion = await newest()
    const name = `k-${++names}`
    await make(name, { ttl: 60 })
    const seen = await watch(
      { resourceVersion, timeoutSeconds: '100' },
      { when: { 90: () => deleteObject(store(), { namespace: '', name }, {}, context) } },
    )
    expect(seen.map((one) => [one.at, event(one).type, event(one).object.status.phase])).toEqual([
      [0, 'ADDED', 'Active'],
      [90, 'DELETED', 'Expired'],
    ])
  })

  test('sends a table for each object, with the revision of the object', async () => {
    const resourceVersion = await newest()
    const name = `k-${++names}`
    await make(name)
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const seen = await watch({ resourceVersion, timeoutSeconds: '3', includeObject: 'Object' }, { accept })
    const [{ metadata, rows }] = seen.map((one) => event(one).object)
    expect([seen.length, rows.length, rows[0].object.metadata.name]).toEqual([1, 1, name])
    expect(metadata.resourceVersion).toBe(rows[0].object.metadata.resourceVersion)
  })

  test('that is told of a change does not wait for its next poll', async () => {
    deployment.store.around = (items) => items
    const told = createServer(deployment.environment).storeOf(OwnedAccessKey)
    const resourceVersion = await newest()
    const name = `k-${++names}`
    const seen = await watch({ resourceVersion, timeoutSeconds: '9' }, { over: told, oversleep: () => make(name) })
    expect(seen.map((one) => [one.at, event(one).object.metadata.name])).toEqual([[1, name]])
  })

  // Clients read lines: kopf, kr8s, lightkube and others fail on white space that no event follows.
  test('sends a bookmark at once and every 20 seconds, and nothing to clients without bookmarks', async () => {
    const resourceVersion = await newest()
    const seen = await watch({ resourceVersion, timeoutSeconds: '50', allowWatchBookmarks: 'true' })
    const bookmark = (at: number) => [at, 'BOOKMARK', resourceVersion]
    expect(seen.map((one) => [one.at, event(one).type, event(one).object.metadata.resourceVersion])).toEqual(
      [0, 20, 40, 50].map(bookmark),
    )
    expect(await watch({ resourceVersion, timeoutSeconds: '50' })).toEqual([])
  })

  test('reads soon after an event, and less often without events', async () => {
    const resourceVersion = await newest()
    const waits: number[] = []
    await watch({ resourceVersion, timeoutSeconds: '15' }, { waits, when: { 10: () => make(`k-${++names}`) } })
    expect(waits.slice(0, 12)).toEqual([40, 100, 200, 300, 400, 500, 500, 500, 500, 500, 40, 100])
  })

  test('waits for a future revision, and sends no earlier events', async () => {
    const newestNow = Number(await newest())
    const name = `k-${++names}`
    const seen = await watch(
      { resourceVersion: String(newestNow + 2), timeoutSeconds: '50', allowWatchBookmarks: 'true' },
      { when: { 25: () => make(`${name}-1`), 30: () => make(`${name}-2`), 35: () => make(`${name}-3`) } },
    )
    expect(seen.map((one) => [one.at, event(one).object.metadata.name])).toEqual([
      [30, undefined],
      [35, `${name}-3`],
      [50, undefined],
    ])
  })

  test('ends with an error event when it requests the state at a future revision', async () => {
    const resourceVersion = String(Number(await newest()) + 1)
    const query = { resourceVersion, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
    const seen = await watch({ ...query, timeoutSeconds: '5' })
    expect(seen.map((one) => event(one))).toMatchObject([
      { type: 'ERROR', object: { code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } } },
    ])
  })

  // threat: gateway-17
  test('ends after its longest time, or after the timeout of the client', async () => {
    const resourceVersion = await newest()
    const last = (seen: Watched[]) => seen.at(-1)?.at
    const query = { resourceVersion, allowWatchBookmarks: 'true' }
    expect(last(await watch({ ...query, timeoutSeconds: '3600' }))).toBe(120)
    expect(last(await watch({ ...query, timeoutSeconds: '7' }))).toBe(7)
  })

  test('ends with a bookmark after the quiet time since its last event, and never before its initial events', async () => {
    const name = `k-${++names}`
    const fieldSelector = `metadata.name=${name}`
    await make(name)
    const limits = { maxSeconds: 120, quietSeconds: 30 }
    const change = () => deleteObject(store(), { namespace: '', name }, {}, context)
    const seen = await watch({ allowWatchBookmarks: 'true', fieldSelector }, { limits, when: { 25: change } })
    expect(seen.map((one) => [one.at, event(one).type])).toEqual([
      [0, 'ADDED'],
      [0, 'BOOKMARK'],
      [20, 'BOOKMARK'],
      [25, 'DELETED'],
      [45, 'BOOKMARK'],
      [55, 'BOOKMARK'],
    ])
    const hurried = { maxSeconds: 0, quietSeconds: 0 }
    const begun = await watch({ allowWatchBookmarks: 'true', fieldSelector: 'metadata.name=k-1' }, { limits: hurried })
    expect(event(begun.at(-1) as Watched).object.metadata.resourceVersion).toBe(await newest())
  })

  // A revoked key sees no more events after ten seconds. With the old value of a rotated key, or a scope that was narrowed, a
  // client must authenticate again.
  // threat: use-2
  test.each([
    ['is revoked', undefined],
    ['changes', 2],
  ])('ends within 10 seconds after its key %s', async (_, later) => {
    const resourceVersion = await newest()
    const name = `k-${++names}`
    const when = { 35: () => make(name) }
    const query = { resourceVersion, allowWatchBookmarks: 'true' }
    const seen = await watch(query, { generation: (second) => (second < 22 ? 1 : later), when })
    expect(seen.map((one) => [one.at, event(one).type])).toEqual([
      [0, 'BOOKMARK'],
      [20, 'BOOKMARK'],
    ])
  })

  // Otherwise a key could have more watches than it may: one that is not kept is not counted.
  test('fails when it cannot be kept counted', async () => {
    const keep = async (second: number) => {
      if (second >= 5) throw new Error('not kept')
    }
    await expect(watch({ resourceVersion: await newest(), timeoutSeconds: '50' }, { keep })).rejects.toThrow('not kept')
  })

  // A client that opens watches one after another has one starting at the moment of the change.
  // threat: use-2
  test('ends within 10 seconds when its key changed between authorization and start', async () => {
    const resourceVersion = await newest()
    const name = `k-${++names}`
    const user = { ...admin, key: { ...admin.key, generation: 1 } }
    const seen = await watch({ resourceVersion }, { generation: () => 2, when: { 15: () => make(name) }, user })
    expect(seen).toEqual([])
  })

  // threat: use-2
  test('ends with an error event when its key cannot be read', async () => {
    const generation = (second: number) => {
      if (second > 15) throw new StorageError('Unavailable', 'away')
      return 1
    }
    expect((await watch({ resourceVersion: await newest() }, { generation })).map(event)).toEqual([
      { type: 'ERROR', object: expect.objectContaining({ kind: 'Status', reason: 'ServiceUnavailable', code: 503 }) },
    ])
  })

  test('starts with the existing objects, and marks their end for clients with bookmarks', async () => {
    const name = `k-${++names}`
    await make(name)
    const query = { timeoutSeconds: '1', allowWatchBookmarks: 'true', fieldSelector: `metadata.name=${name}` }
    const types = (seen: Watched[]) =>
      seen.map((one) => {
        const { type, object } = event(one)
        return object.metadata.annotations?.['k8s.io/initial-events-end'] ? `${type} end` : type
      })
    expect(types(await watch(query))).toEqual(['ADDED', 'BOOKMARK end', 'BOOKMARK'])
    expect(types(await watch({ ...query, allowWatchBookmarks: 'false' }))).toEqual(['ADDED'])
    const asked = { ...query, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
    expect(types(await watch(asked))).toEqual(['ADDED', 'BOOKMARK end', 'BOOKMARK'])
    const none = { ...query, sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' }
    expect(types(await watch(none))).toEqual(['BOOKMARK', 'BOOKMARK'])
  })
})
