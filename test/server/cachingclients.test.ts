/** Tests clients that cache objects while others write, over watches that end, break or start too late. */
import { KubeConfig, type KubernetesListObject, type KubernetesObject, makeInformer } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import type { KubeObject } from '../../lib/meta/types.ts'
import { slotKey } from '../../lib/storage/keys.ts'
import { endless } from '../support/deadlines.ts'
import { kubeConfig } from '../support/kubectl.ts'
import { accessKey, keys as path } from '../support/objects.ts'
import { type Reflector, startReflector } from '../support/reflector.ts'
import { startRelay } from '../support/relay.ts'
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

describe('the informer of @kubernetes/client-node', () => {
  async function startInformer(query: string) {
    const relay = await startRelay(Number(new URL(server.base).port))
    const through = server.base.replace(new URL(server.base).port, String(relay.port))
    const config = new KubeConfig()
    config.loadFromString(JSON.stringify(kubeConfig(through, server.certificateAuthority, server.adminKey)))
    let lists = 0
    const list = async () => {
      lists++
      return (await server.call(path)).json as KubernetesListObject<KubernetesObject>
    }
    const informer = makeInformer(config, `${path}${query}`, list)
    const waiting = new Map<string, () => void>()
    const note = ({ metadata }: KubernetesObject) => waiting.get(metadata?.name ?? '')?.()
    informer.on('add', note)
    informer.on('update', note)
    // As in its documentation.
    let errors = 0
    let isStopped = false
    informer.on('error', () => {
      errors++
      setTimeout(() => {
        if (!isStopped) void informer.start()
      }, 50)
    })
    await informer.start()
    return {
      informer,
      relay,
      lists: () => lists,
      errors: () => errors,
      has: (name: string) => new Promise<void>((resolve) => void waiting.set(name, resolve)),
      async expectInStep() {
        expect([...informer.list()].sort(byName)).toEqual((await listObjects()).sort(byName))
      },
      async stop() {
        isStopped = true
        await informer.stop()
        await relay.stop()
      },
    }
  }

  test('catches up after its connection broke', async () => {
    const one = await startInformer('')
    const all = one.has('torn-last')
    const writing = write('torn')
    for (const name of ['torn-0-1', 'torn-1-2', 'torn-2-3']) {
      await one.has(name)
      one.relay.cut()
    }
    await writing
    await all
    expect(one.errors()).toBeGreaterThan(0)
    await one.expectInStep()
    await one.stop()
  })

  test('lists again when its resourceVersion has expired', async () => {
    const one = await startInformer('')
    const seen = one.has('gone-last')
    await write('gone')
    await seen
    // A day passes before it reconnects.
    one.relay.setClosed(true)
    await write('new')
    await forgetLog()
    const last = one.has('new-last')
    one.relay.setClosed(false)
    await last
    expect(one.lists()).toBe(2)
    await one.expectInStep()
    await one.stop()
  })
})
