/** Tests that users cannot turn the garbage collector against others with owner references and finalizers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessKey, apiVersion, instance, instances, keys } from '../support/objects.ts'
import { saying } from '../support/refusals.ts'
import type { Answer, Call } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let alice: string
let bob: string
beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 0.1 })
  alice = (await server.make(keys, accessKey('alice', { user: 'alice' }))).spec.key
  bob = (await server.make(keys, accessKey('bob', { user: 'bob' }))).spec.key
})
afterAll(() => server?.stop())

interface Made {
  metadata: { name: string; uid: string; resourceVersion: string; ownerReferences?: object[] }
}
type Reference = ReturnType<typeof reference>

const reference = ({ metadata: { name, uid } }: Made, more: object = {}) => ({
  apiVersion,
  kind: 'OwnedAccessKey',
  name,
  uid,
  ...more,
})
const blocking = { blockOwnerDeletion: true }
const hold = ['example.com/hold']

const asAlice = (path: string, call: Call = {}): Promise<Answer> => server.call(path, { ...call, token: alice })
const asBob = (path: string, call: Call = {}): Promise<Answer> => server.call(path, { ...call, token: bob })
const patch = (type: string, body: unknown): Call => ({
  method: 'PATCH',
  body: JSON.stringify(body),
  headers: { 'content-type': `application/${type}` },
})
const remove = (propagationPolicy: string): Call => ({ method: 'DELETE', body: { propagationPolicy } })

async function createBy(who: typeof asAlice, name: string, metadata: object = {}): Promise<Made> {
  const { status, json, text } = await who(keys, { method: 'POST', body: accessKey(name, {}, metadata) })
  expect([status, status === 201 ? '' : text]).toEqual([201, ''])
  return json
}

let markers = 0
/** Waits until the collector has handled all earlier writes. It reads changes in order. */
async function waitForCollector(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const name = `marker-${markers++}`
    const gone = { apiVersion, kind: 'OwnedAccessKey', name: 'never-was', uid: 'never-was' }
    await server.make(keys, accessKey(name, {}, { ownerReferences: [gone] }))
    await expect.poll(async () => (await server.call(`${keys}/${name}`)).status).toBe(404)
  }
}

describe('the deletion of objects of other users', () => {
  /** Ways to change the owner references of an object of alice. */
  const writes: [string, (references: Reference[]) => Call][] = [
    ['merge patch', (ownerReferences) => patch('merge-patch+json', { metadata: { ownerReferences } })],
    [
      'JSON patch of the name alone',
      ([one]) =>
        patch('json-patch+json', [{ op: 'replace', path: '/metadata/ownerReferences/0/name', value: one?.name }]),
    ],
  ]

  // threat: users-24
  test.each(writes)('is not blocked by an owner reference with another name: %s', async (_, write) => {
    const victim = await createBy(asBob, `victim-${markers++}`)
    const own = await createBy(asAlice, `own-${markers++}`)
    // Both owners exist. The reference has the name of alice's object and the UID of the other.
    const lure = reference(own, { uid: victim.metadata.uid, ...blocking })
    const name = `lure-${markers++}`
    await createBy(asAlice, name, { finalizers: hold, ownerReferences: [lure] })
    /** Retries when the collector removed the invalid owner first. */
    const rename = async (): Promise<Answer> => {
      const answer = await asAlice(`${keys}/${name}`, write([reference(victim, blocking)]))
      return answer.status === 409 ? rename() : answer
    }
    const changed = await rename()
    expect([changed.status, changed.json.details?.causes?.[0]?.message]).toEqual(
      saying(422, 'you need permission to delete the owner'),
    )
    expect((await asBob(`${keys}/${victim.metadata.name}`, remove('Foreground'))).status).toBe(200)
    await expect.poll(async () => (await asBob(`${keys}/${victim.metadata.name}`)).status).toBe(404)
  })

  // threat: users-24
  test('is not delayed by non-blocking references or by finalizers', async () => {
    const [foreground, orphan] = [await createBy(asBob, 'in-foreground'), await createBy(asBob, 'orphaning')]
    const ownerReferences = [reference(foreground), reference(orphan)]
    for (const finalizers of [hold, ['foregroundDeletion'], ['orphan'], ['orphan', ...hold]]) {
      const dependent = await createBy(asAlice, `hanger-on-${markers++}`, { finalizers, ownerReferences })
      await asAlice(`${keys}/${dependent.metadata.name}`, { method: 'DELETE' })
    }
    await asBob(`${keys}/in-foreground`, remove('Foreground'))
    await asBob(`${keys}/orphaning`, remove('Orphan'))
    for (const name of ['in-foreground', 'orphaning'])
      await expect.poll(async () => (await asBob(`${keys}/${name}`)).status).toBe(404)
  })
})

// Specification, section 7. kube-apiserver's mapper also knows kinds in lower case.
// threat: users-24
test.each<[string, object, string]>([
  ['of another user', {}, 'you need permission to delete the owner'],
  ['in lower case', { kind: 'ownedaccesskey' }, 'you need permission to delete the owner'],
  ['of an unknown kind', { apiVersion: 'v1', kind: 'Pod' }, 'no matches for kind "Pod" in version "v1"'],
])('a blocking reference to an owner %s is refused', async (_, more, why) => {
  const owner = await createBy(asBob, `blocked-${markers++}`)
  const create = async (who: typeof asAlice) => {
    const body = accessKey(
      `blocker-${markers++}`,
      {},
      { ownerReferences: [reference(owner, { ...more, ...blocking })] },
    )
    const { status, json } = await who(keys, { method: 'POST', body })
    return [status, json.details?.causes?.[0]?.message]
  }
  expect(await create(asAlice)).toEqual(saying(422, why))
  expect(await create((path, call) => server.call(path, call))).toEqual([201, undefined])
})

// threat: users-24
test('owner references neither delete nor change objects of other users', async () => {
  await server.make(instances('p-a'), instance('x', { owner: { user: 'alice' } }))
  const others = await server.make(instances('p-b'), instance('x', { owner: { user: 'bob' } }))
  const owner = await createBy(asBob, 'owner')
  const dependent = await createBy(asBob, 'dependent', { ownerReferences: [reference(owner, blocking)] })
  const before = await server.call(keys)
  const othersIn = ({ json }: Answer) =>
    json.items.filter(({ metadata: { name } }: Made) => ['owner', 'dependent'].includes(name))

  const mine = await createBy(asAlice, 'mine')
  const anInstance = { kind: 'VirtualClusterInstance' }
  const tricks: Reference[][] = [
    [reference(owner)],
    [reference(dependent)],
    [reference(owner, { uid: mine.metadata.uid })],
    [reference(mine, { uid: owner.metadata.uid })],
    [reference(owner, anInstance)],
    [reference(others, anInstance)],
    [reference(others)],
    [reference(owner, { apiVersion: 'management.platform/v2' })],
    Array.from({ length: 40 }, (_, index) => reference(owner, { uid: `${owner.metadata.uid}-${index}` })),
    Array.from({ length: 40 }, (_, index) => reference(owner, { name: `owner-${index}` })),
  ]
  const made: string[] = []
  for (const ownerReferences of tricks) {
    const { metadata } = await createBy(asAlice, `trick-${made.length}`, { ownerReferences, finalizers: hold })
    made.push(metadata.name)
  }
  // A cycle of alice's objects with one of another user, and references that change while the collector reads them.
  const turns = made.map((name, index) =>
    patch('merge-patch+json', {
      metadata: {
        ownerReferences: [reference(owner), reference(dependent, { name: made[(index + 1) % made.length] ?? name })],
      },
    }),
  )
  await Promise.all(turns.map((turn, index) => asAlice(`${keys}/${made[index]}`, turn)))
  await asAlice(`${instances('p-a')}/x`, patch('merge-patch+json', { metadata: { ownerReferences: tricks[5] ?? [] } }))
  await asAlice(`${keys}/mine`, remove('Foreground'))
  await asAlice(keys, { ...remove('Orphan') })
  await waitForCollector()
  expect(othersIn(await server.call(keys))).toEqual(othersIn(before))
  expect((await asBob(`${instances('p-b')}/x`)).json.metadata.resourceVersion).toBe(others.metadata.resourceVersion)
  alice = (await server.make(keys, accessKey('alice-2', { user: 'alice' }))).spec.key
})

test('a hidden owner and a missing owner look the same to a watch', async () => {
  await createBy(asBob, 'hidden')
  const { resourceVersion } = (await asAlice(`${keys}?limit=1`)).json.metadata
  for (const name of ['hidden', 'nobody']) {
    const guess = reference({ metadata: { name, uid: 'guessed', resourceVersion: '' } })
    await createBy(asAlice, `guess-${name}`, { ownerReferences: [guess] })
    await createBy(asAlice, `held-${name}`, { finalizers: hold, ownerReferences: [guess] })
  }
  await waitForCollector()
  const { text } = await asAlice(`${keys}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`)
  const events = (name: string) =>
    text
      .split('\n')
      .filter((line) => line.includes(`guess-${name}`) || line.includes(`held-${name}`))
      .map((line) => JSON.parse(line))
      .map(({ type, object: { metadata, spec, status } }) => [
        type,
        metadata.name.replace(name, 'NAME'),
        metadata.deletionTimestamp === undefined,
        metadata.ownerReferences.length,
        spec,
        status.phase,
      ])
      .sort()
  expect(events('hidden')).toEqual(events('nobody'))
  expect(events('hidden')).toHaveLength(4)
})
