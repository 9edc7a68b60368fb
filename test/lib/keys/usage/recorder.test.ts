/** Tests what a process writes about the use of keys, and what it does not write again. */
import { expect, test } from 'vitest'
import { ANY_NAME } from '../../../../lib/access/advice/usedentry.ts'
import { managementRequest } from '../../../../lib/access/attributes/attributes.ts'
import { parseSpaceNamespace } from '../../../../lib/access/scopes/space.ts'
import type { CompanionItem } from '../../../../lib/engine/storage/interface.ts'
import { readUsage } from '../../../../lib/keys/usage/items.ts'
import { createUsageRecorder } from '../../../../lib/keys/usage/recorder.ts'
import { KINDS } from '../../../../lib/kinds.ts'

const scopes = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
const DAY = 86_400_000

function start() {
  const world = { now: Date.parse('2026-11-26T10:00:00Z'), fails: false, errors: 0 }
  const written: CompanionItem[] = []
  const recorder = createUsageRecorder({
    scopes,
    now: () => world.now,
    failed: () => void world.errors++,
    storage: {
      async writeCompanion(item) {
        if (world.fails) throw new Error('throttled')
        written.push(item as CompanionItem)
        return undefined
      },
    },
  })
  const days = () => written.map(({ sk, attributes }) => (sk === 'others' ? sk : String(attributes.day)))
  return { world, written, recorder, days }
}

const asking = (verb: string, name: string, namespace = 'p-web') =>
  managementRequest(KINDS.VirtualClusterInstance, { verb, name, namespace })
const getting = (name: string, namespace?: string) => asking('get', name, namespace)
const key = { uid: 'u-1', generation: 1 }
const project = [{ projects: [{ project: 'web' }] }]
const dev = { type: 'virtualCluster', namespace: 'p-web', name: 'dev' } as const

test('an entry is written once a day, however many requests and objects it stands for', async () => {
  const { world, recorder, written, days } = start()
  for (const name of ['a', 'b', 'a']) await recorder.used(key, project, getting(name))
  await Promise.all([1, 2, 3].map((n) => recorder.used(key, project, getting(`c${n}`))))
  expect(days()).toEqual(['2026-11-26'])
  world.now += DAY
  await recorder.used(key, project, getting('a'))
  expect(days()).toEqual(['2026-11-26', '2026-11-27'])
  expect(new Set(written.map(({ pk, sk }) => `${pk} ${sk}`)).size).toBe(1)
  expect(written[0]?.attributes.expires).toBe(Math.floor((world.now - DAY) / 1000) + 90 * 86_400)
})

test('a scope that tells names apart makes entries with names, also after a change of the same day', async () => {
  const { recorder, written } = start()
  await recorder.used(key, project, getting('a'))
  const listed = [{ virtualClusters: ['a', 'b'].map((virtualCluster) => ({ project: 'web', virtualCluster })) }]
  for (const name of ['a', 'b']) await recorder.used({ ...key, generation: 2 }, listed, getting(name))
  expect(written.map(({ attributes }) => attributes.entry)).toMatchObject([
    { anyName: true },
    { name: 'a' },
    { name: 'b' },
  ])
})

test('what every scope allows is not written', async () => {
  const { recorder, written } = start()
  await recorder.used(key, [{}], { kind: 'nonresource', target: { type: 'Management' }, verb: 'get', path: '/apis' })
  await recorder.used(key, [], managementRequest(KINDS.Self, { verb: 'create' }))
  expect(written).toEqual([])
})

// threat: usage-3
test('beyond 64 entries of a key there is one more, which says so', async () => {
  const { recorder, written, days } = start()
  for (let n = 0; n < 70; n++) await recorder.used(key, project, getting('a', `p-${n}`))
  await recorder.used({ uid: 'u-2' }, project, getting('a'))
  expect([written.length, days().filter((one) => one === 'others').length]).toEqual([66, 1])
  const own = written.filter(({ pk }) => pk === 'usage#u-1')
  expect(readUsage(own, scopes)).toMatchObject({ isIncomplete: true, entries: { length: 64 } })
})

// threat: usage-3
test.each(['delete', 'use', '*'])('what may change something is recorded after a flood of reads (%s)', async (verb) => {
  const { recorder, written } = start()
  for (let n = 0; n < 70; n++) {
    await recorder.used(key, project, getting('a', `p-${n}`))
    await recorder.refused(key, [{}], getting('a', `p-${n}`))
  }
  await recorder.used(key, project, asking(verb, 'a'))
  await recorder.refused(key, [{}], asking(verb, 'a'))
  const { entries, refused } = readUsage(written, scopes)
  const changes = [entries, refused].map((some) => some.filter(({ entry }) => entry.attributes.verb === verb))
  expect(changes.map((some) => some.length)).toEqual([1, 1])
})

// threat: usage-3
test('a flood of changes is limited, too, and hides no read', async () => {
  const { recorder, written } = start()
  for (let n = 0; n < 70; n++) await recorder.used(key, project, asking('delete', 'a', `p-${n}`))
  await recorder.used(key, project, getting('a'))
  expect(readUsage(written, scopes)).toMatchObject({ isIncomplete: true, entries: { length: 65 } })
})

test.each([
  ['is too long for one write unit', `/${'x'.repeat(2000)}`],
  ['has an access key', '/mpk_1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF11SjCEY'],
])('an entry that %s counts as one more', async (_, path) => {
  const { recorder, days } = start()
  await recorder.used(key, [], { kind: 'nonresource', target: { type: 'Management' }, verb: 'get', path })
  expect(days()).toEqual(['others'])
})

test('what scopes refuse is written once a day without names, apart from what the key did', async () => {
  const { recorder, written, days } = start()
  const listed = [{ virtualClusters: [{ project: 'web', virtualCluster: 'a' }] }]
  for (const name of ['b', 'c', 'b']) await recorder.refused(key, listed, getting(name))
  expect(days()).toEqual(['2026-11-26'])
  const { entries, refused, refusedMore, isIncomplete } = readUsage(written, scopes)
  expect([entries, refused, refusedMore, isIncomplete]).toEqual([
    [],
    [{ entry: { attributes: expect.objectContaining({ verb: 'get', name: ANY_NAME }) }, day: '2026-11-26' }],
    false,
    false,
  ])
})

// threat: usage-4
test('beyond 32 refused kinds of a key there is one more, and neither they nor their names cost a write', async () => {
  const { recorder, written } = start()
  for (let n = 0; n < 70; n++) await recorder.refused(key, [{}], getting(`a-${n}`, `p-${n}`))
  expect(written).toHaveLength(33)
  await recorder.refused({ uid: 'u-2' }, [{}], getting('a'))
  await recorder.used(key, project, getting('a'))
  expect(written).toHaveLength(35)
  const own = written.filter(({ pk }) => pk === 'usage#u-1')
  expect(readUsage(own, scopes)).toMatchObject({
    isIncomplete: false,
    refusedMore: true,
    refused: { length: 32 },
    entries: { length: 1 },
  })
})

test('a refused kind with a credential in its path counts as one more', async () => {
  const { recorder, written } = start()
  const path = '/mpk_1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF11SjCEY'
  await recorder.refused(key, [{}], { kind: 'nonresource', target: { type: 'Management' }, verb: 'get', path })
  expect(JSON.stringify(written)).not.toContain('mpk_')
  expect(readUsage(written, scopes)).toMatchObject({ refused: [], refusedMore: true, isIncomplete: false })
})

test('a refused kind at a cluster is written only for a key that gives access, which is asked once', async () => {
  const { world, recorder, written } = start()
  let asked = 0
  const live = (answer: boolean) => async () => {
    asked++
    return answer
  }
  for (const _ of [1, 2]) await recorder.refused(key, [{}], getting('a'), dev, live(false))
  expect([asked, written.length]).toEqual([1, 0])
  const unknown = async () => {
    throw new Error('throttled')
  }
  await recorder.refused(key, [{}], getting('a', 'p-1'), dev, unknown)
  expect(world.errors).toBe(1)
  for (const _ of [1, 2]) await recorder.refused(key, [{}], getting('a', 'p-1'), dev, live(true))
  expect([asked, written.length]).toEqual([2, 1])
})

test('a failed write fails nothing, pauses, and is made up for by a later request of any key', async () => {
  const { world, recorder, written, days } = start()
  world.fails = true
  await recorder.used(key, project, getting('a'))
  world.fails = false
  await recorder.used(key, project, getting('a'))
  await recorder.used(key, project, getting('b', 'p-other'))
  expect([world.errors, written.length]).toEqual([1, 0])
  world.now += 10_000
  await recorder.used(key, project, getting('a'))
  expect(days()).toEqual(['2026-11-26', '2026-11-26'])
  world.fails = true
  await recorder.used(key, project, getting('c', 'p-third'))
  world.fails = false
  world.now += 10_000
  await recorder.used({ uid: 'u-2' }, project, getting('a'))
  expect(written.map(({ pk }) => pk).sort()).toEqual(['usage#u-1', 'usage#u-1', 'usage#u-1', 'usage#u-2'])
})

test('clusters that accept a key are written once a day', async () => {
  const { recorder, written } = start()
  for (const _ of [1, 2]) await recorder.accepted(key, dev)
  expect(written).toHaveLength(1)
  expect(readUsage(written, scopes)).toMatchObject({
    accepted: [{ place: dev, day: '2026-11-26' }],
    isIncomplete: false,
  })
})

test('a cluster that asks about a key is in the usage of that key, also if it asks about what every scope allows', async () => {
  const { world, recorder, written } = start()
  const prod = { type: 'cluster', name: 'prod' } as const
  const version = { kind: 'nonresource', target: { type: 'Cluster', cluster: 'prod' }, verb: 'get' } as const
  for (const path of ['/version', '/version', '/api']) await recorder.used(key, [], { ...version, path }, prod)
  world.now += 86_400_000
  await recorder.used(key, [], { ...version, path: '/metrics' }, prod)
  expect(written.map(({ pk }) => pk)).toEqual(['usage#u-1', 'usage#u-1'])
  const { asked, entries, isIncomplete } = readUsage(written.toReversed(), scopes)
  expect([[...asked], entries.length, isIncomplete]).toEqual([[['clusters/prod', '2026-11-27']], 1, false])
})
