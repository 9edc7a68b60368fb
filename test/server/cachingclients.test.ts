/**
 * Tests clients that cache objects while others write, over watches that end, break or start too late, and one that asks for a
 * WebSocket.
 */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../lib/engine/meta/types.ts'
import { slotKey } from '../../lib/engine/storage/keys.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { endless } from '../support/deadlines.ts'
import { accessKey, keys as path } from '../support/objects.ts'
import { type Reflector, startReflector } from '../support/reflector.ts'
import { useServer } from '../support/sharedserver.ts'
import { judgeWatch } from './faults/judgement.ts'

const { table } = OwnedAccessKey

const server = useServer()

const create = (name: string, labels: Record<string, string> = {}) =>
  server.make(path, accessKey(name, { user: 'ci' }, { labels }))
const patch = (name: string, body: object) => server.patch(`${path}/${name}`, body)

/** Runs six writers that create, change and delete their own objects. Some objects remain. */
async function write(round: string, labels: Record<string, string> = {}): Promise<void> {
  const writers = Array.from({ length: 6 }, async (_, number) => {
    for (let turn = 0; turn < 4; turn++) {
      const name = `${round}-${number}-${turn}`
      await create(name, labels)
      await patch(name, { spec: { displayName: 'changed' } })
      if (turn % 2 === 1) await server.call(`${path}/${name}`, { method: 'DELETE' })
    }
  })
  await Promise.all(writers)
  await create(`${round}-last`, labels)
}

const listObjects = async (query = ''): Promise<KubeObject[]> => (await server.call(`${path}?${query}`)).json.items

interface Named {
  metadata?: { name?: string | undefined } | undefined
}
const byName = (one: Named, other: Named): number =>
  (one.metadata?.name ?? '') < (other.metadata?.name ?? '') ? -1 : 1

async function expectInStep({ store }: Reflector): Promise<void> {
  expect([...store.values()].sort(byName)).toEqual((await listObjects()).sort(byName))
}

async function expectAllSeen({ seen }: Reflector, from: number): Promise<void> {
  const { changes } = await server.parts.storage.changes(table, from)
  expect(judgeWatch(from, seen, changes)).toEqual([])
}

/** Simulates a day: the log is settled and its old entries expire. */
async function forgetLog(): Promise<void> {
  await server.parts.storage.sweep(table)
  const settled = await server.parts.storage.revision(table)
  const revisions = Array.from({ length: settled - 1 }, (_, index) => index + 2)
  for (let index = 0; index < revisions.length; index += 25) {
    const keys = revisions.slice(index, index + 25).map((rev) => slotKey(table.resource, rev))
    await server.store.items().transact(
      keys.map((key) => ({ type: 'delete', key })),
      endless(),
    )
  }
}

describe("client-go's reflector", () => {
  test('resumes with bookmarks when the server ends its watch', async () => {
    const reflector = await startReflector(server, path, { timeoutSeconds: 1 })
    const from = Number(reflector.resourceVersion())
    await write('ended')
    await reflector.until(() => reflector.store.has('ended-last') && reflector.counts.watches > 3)
    await reflector.stop()
    expect(reflector.counts).toMatchObject({ lists: 1, expired: 0 })
    expect(reflector.counts.bookmarks).toBeGreaterThan(1)
    await expectAllSeen(reflector, from)
    await expectInStep(reflector)
  })

  test('resumes when the connection breaks in the middle', async () => {
    const reflector = await startReflector(server, path, { timeoutSeconds: 600 })
    const from = Number(reflector.resourceVersion())
    let cuts = 0
    const cutting = reflector.until(() => {
      // Breaks at every seventh change, so that events of the same poll are lost as well.
      if (Math.floor(reflector.seen.length / 7) > cuts) {
        cuts++
        reflector.cut()
      }
      return reflector.store.has('cut-last')
    })
    await write('cut')
    await cutting
    await reflector.stop()
    expect(cuts).toBeGreaterThan(5)
    expect(reflector.counts).toMatchObject({ lists: 1, expired: 0 })
    expect(reflector.counts.watches).toBeGreaterThan(cuts)
    await expectAllSeen(reflector, from)
    await expectInStep(reflector)
  })

  test('lists again when its resourceVersion has expired', async () => {
    const reflector = await startReflector(server, path, { timeoutSeconds: 600 })
    const from = reflector.resourceVersion()
    await write('before')
    await reflector.until(() => reflector.store.has('before-last'))
    const writing = write('late')
    await forgetLog()
    reflector.rewind(from)
    await writing
    await reflector.until(() => reflector.store.has('late-last'))
    await reflector.stop()
    expect(reflector.counts).toMatchObject({ lists: 2, expired: 1 })
    await expectInStep(reflector)
  })

  test('resumes after receiving only bookmarks', async () => {
    const labelSelector = 'team=nobody'
    const reflector = await startReflector(server, path, { timeoutSeconds: 1, labelSelector })
    await write('unseen')
    const newest = await server.parts.storage.revision(table)
    await reflector.until(() => Number(reflector.resourceVersion()) >= newest)
    await forgetLog()
    const { watches } = reflector.counts
    await reflector.until(() => reflector.counts.watches > watches + 1)
    await create('seen', { team: 'nobody' })
    await reflector.until(() => reflector.store.has('seen'))
    await reflector.stop()
    expect(reflector.counts).toMatchObject({ lists: 1, expired: 0 })
    expect(reflector.seen.map(({ type, name }) => `${type} ${name}`)).toEqual(['ADDED seen'])
  })
})

// The handshake of fabric8, which falls back to a watch over HTTP after this answer.
test('get an immediate answer through the gateway to a WebSocket upgrade', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const watched = await server.call(`${path}?watch=true&allowWatchBookmarks=true`, { headers })
  expect([watched.status, watched.text]).toEqual([200, '\n'])
})
