/** Tests that hidden objects of other users look exactly like missing objects. */
import { beforeAll, describe, expect, test } from 'vitest'
import { accessKey, apiVersion, instance, instances as instancesIn, keys } from '../support/objects.ts'
import type { Answer, Call } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const instances = instancesIn('p-a')

const server = useServer()
let alice: string
let uid: string
let resourceVersion: string

const object = (kind: string, name: string, spec?: object, metadata?: object) => ({
  ...accessKey(name, spec, metadata),
  kind,
})

beforeAll(async () => {
  alice = (await server.make(keys, accessKey('alice', { user: 'alice' }))).spec.key
  // As long as the missing name, so that all texts have the same length.
  const { metadata } = await server.make(keys, accessKey('others', { user: 'bob' }))
  ;({ uid, resourceVersion } = metadata)
  await server.make(keys, accessKey('ending', { user: 'bob' }, { finalizers: ['example.com/hold'] }))
  await server.call(`${keys}/ending`, { method: 'DELETE' })
  await server.make(instances, instance('others', { owner: { user: 'bob' } }))
})

const asAlice = (path: string, call: Call = {}): Promise<Answer> => server.call(path, { ...call, token: alice })
const patch = (type: string, body: unknown): Call => ({
  method: 'PATCH',
  body: JSON.stringify(body),
  headers: { 'content-type': `application/${type}` },
})
const normalizeName = ({ status, headers, text }: Answer, name: string) => ({
  status,
  warning: String(headers.warning).replaceAll(name, 'NAME'),
  type: headers['content-type'],
  text: text.replaceAll(name, 'NAME'),
})

/** Requests for the object NAME; uid and resourceVersion are those of the hidden key. */
const requests: [string, (name: string, kind: string) => Call & { below?: string }][] = [
  ['get', () => ({})],
  ['get as a Table', () => ({ headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })],
  ['get of the status', () => ({ below: '/status' })],
  ['update', (name, kind) => ({ method: 'PUT', body: object(kind, name, {}, { resourceVersion }) })],
  ['update without a resourceVersion', (name, kind) => ({ method: 'PUT', body: object(kind, name) })],
  ['update with a uid', (name, kind) => ({ method: 'PUT', body: object(kind, name, {}, { uid }) })],
  ['update of the status', (name, kind) => ({ method: 'PUT', below: '/status', body: object(kind, name) })],
  ['update that is not valid', (name, kind) => ({ method: 'PUT', body: object(kind, name, { ttl: -1 }) })],
  ['merge patch', () => patch('merge-patch+json', { spec: { disabled: true } })],
  ['merge patch of the status', () => ({ ...patch('merge-patch+json', { status: {} }), below: '/status' })],
  ['JSON patch with a test', () => patch('json-patch+json', [{ op: 'test', path: '/spec/user', value: 'bob' }])],
  ['JSON patch that does not fit', () => patch('json-patch+json', [{ op: 'remove', path: '/nothing' }])],
  ['delete', () => ({ method: 'DELETE' })],
  ['delete, tried only', () => ({ method: 'DELETE', below: '?dryRun=All' })],
  ['delete with the right uid', () => ({ method: 'DELETE', body: { preconditions: { uid } } })],
  ['delete with a wrong uid', () => ({ method: 'DELETE', body: { preconditions: { uid: 'x' } } })],
  ['delete with a resourceVersion', () => ({ method: 'DELETE', body: { preconditions: { resourceVersion } } })],
]

describe.each([
  { kind: 'OwnedAccessKey', collection: keys },
  { kind: 'VirtualClusterInstance', collection: instances },
])('$kind', ({ kind, collection }) => {
  // threat: users-1, users-4
  test.each(requests)('returns the same for a hidden and a missing object to: %s', async (_, request) => {
    const [hidden, missing] = await Promise.all(
      ['others', 'nobody'].map(async (name) => {
        const { below = '', ...call } = request(name, kind)
        return normalizeName(await asAlice(`${collection}/${name}${below}`, call), name)
      }),
    )
    expect(hidden).toEqual(missing)
    expect(hidden?.status).toBeGreaterThanOrEqual(400)
  })

  // threat: users-1
  test('hidden objects appear in no list, count, watch of one name or deletecollection', async () => {
    const lists = [
      '',
      '?limit=1',
      '?fieldSelector=metadata.name%3Dothers',
      '?watch=1&timeoutSeconds=1&resourceVersion=0',
    ]
    for (const query of lists) expect((await asAlice(`${collection}${query}`)).text).not.toContain('others')
    const first = await asAlice(`${collection}?limit=1`)
    expect(first.json.metadata.remainingItemCount ?? 0).toBe(0)
    const removed = await asAlice(`${collection}?fieldSelector=metadata.name%3Dothers`, { method: 'DELETE' })
    expect([removed.status, removed.json.items]).toEqual([200, []])
    expect((await server.call(`${collection}/others`)).status).toBe(200)
  })

  // threat: users-4
  test('self reviews do not reveal hidden objects', async () => {
    const ask = async (name: string) => {
      const resource = collection.split('/').at(-1)
      const namespace = collection === keys ? '' : 'p-a'
      const resourceAttributes = { group: 'management.platform', resource, namespace, name, verb: 'get' }
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      return (await server.post(path, { spec: { resourceAttributes } }, alice)).json.status
    }
    expect(await ask('others')).toEqual({ allowed: false, reason: 'not visible to this user' })
    expect(await ask('nobody')).toEqual(await ask('others'))
  })

  // threat: users-4
  test('a blocking owner reference does not reveal whether the owner exists', async () => {
    const withOwner = (name: string) => {
      const owner = { apiVersion, kind, name, uid, blockOwnerDeletion: true }
      const body = object('OwnedAccessKey', 'child', {}, { ownerReferences: [owner] })
      return asAlice(keys, { method: 'POST', body })
    }
    expect(normalizeName(await withOwner('others'), 'others')).toEqual(
      normalizeName(await withOwner('nobody'), 'nobody'),
    )
  })
})

// Clients can request old revisions until they expire.
describe('the history of an object that the user can no longer read', () => {
  const secret = 'a-secret-of-the-past'
  const merge = (spec: object) => patch('merge-patch+json', { spec })

  /** Creates an object that alice can read until the returned revision, and no longer. */
  async function createAndHide(
    collection: string,
    name: string,
    take: (path: string) => Promise<unknown>,
  ): Promise<number> {
    const path = `${collection}/${name}`
    await server.make(collection, collection === keys ? keyOfAlice(name) : sharedInstance(name))
    const readable = await asAlice(path)
    expect([readable.status, readable.text]).toEqual([200, expect.stringContaining(secret)])
    await take(path)
    expect((await asAlice(path)).status).toBe(404)
    return Number(readable.json.metadata.resourceVersion)
  }
  const keyOfAlice = (name: string) => accessKey(name, { user: 'alice', description: secret })
  const sharedInstance = (name: string) =>
    instance(name, { description: secret, access: [{ verbs: ['*'], users: ['alice'] }] }, { labels: { past: 'yes' } })
  const admin = async (path: string, call: Call) => expect((await server.call(path, call)).status).toBe(200)

  const unshare = (path: string) => admin(path, merge({ access: [] }))
  const giveAway = (path: string) => admin(path, merge({ user: 'bob' }))
  const remove = (path: string) => admin(path, { method: 'DELETE' })
  const makeAgain = (path: string) => server.make(instances, instance(path.split('/').at(-1) ?? ''))

  // At once, because the watches wait for their timeout.
  // threat: users-3
  test.concurrent.each<[string, string, string, ((path: string) => Promise<unknown>)[]]>([
    ['instances', 'loses its access', instances, [unshare]],
    ['instances', 'loses it and is deleted', instances, [unshare, remove]],
    ['instances', 'loses it and is made again', instances, [unshare, remove, makeAgain]],
    ['keys', 'gets another owner', keys, [giveAway]],
    ['keys', 'gets another owner and is deleted', keys, [giveAway, remove]],
  ])('is hidden for one of the %s that %s', async (_, what, collection, steps) => {
    const name = `past-${what.replaceAll(' ', '-')}`
    const at = await createAndHide(collection, name, async (path) => {
      for (const step of steps) await step(path)
    })
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: at, start: 'a\0' })).toString('base64url')
    const requests = [
      `?resourceVersion=${at}&resourceVersionMatch=Exact`,
      `?resourceVersion=${at}&resourceVersionMatch=NotOlderThan`,
      `?resourceVersion=${at}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3D${name}`,
      `?resourceVersion=${at}&limit=500`,
      `?continue=${token}`,
      `?continue=${token}&labelSelector=past%3Dyes`,
      `?resourceVersion=${at - 1}&watch=1&timeoutSeconds=1`,
      `?resourceVersion=${at}&watch=1&timeoutSeconds=1`,
      `?resourceVersion=${at}&watch=1&timeoutSeconds=1&labelSelector=past%3Dyes`,
    ]
    const answers = await Promise.all(
      requests.map(async (query) => [query, await asAlice(`${collection}${query}`)] as const),
    )
    for (const [query, { status, text }] of answers)
      expect([query, status, text]).toEqual([query, 200, expect.not.stringContaining(secret)])
    const query = `?resourceVersion=${at}&resourceVersionMatch=Exact`
    const removed = await asAlice(`${collection}${query}`, { method: 'DELETE', body: { dryRun: ['All'] } })
    expect([removed.status, removed.text]).toEqual([200, expect.not.stringContaining(secret)])
    // An administrator can still read the history.
    expect((await server.call(`${collection}${query}`)).text).toContain(secret)
  })

  test.concurrent('is hidden from a resumed watch, which receives the deletion in every format', async () => {
    const at = await createAndHide(instances, 'past-watched', unshare)
    const query = `?resourceVersion=${at}&watch=1&timeoutSeconds=1`
    const events = async (accept: string) =>
      (await asAlice(`${instances}${query}`, { headers: { accept } })).text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .map(({ type, object }) => [type, (object.rows?.[0].object ?? object).metadata.name])
    const formats = ['', ';as=Table;g=meta.k8s.io;v=v1', ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1']
    for (const received of await Promise.all(formats.map((as) => events(`application/json${as}`))))
      expect(received).toContainEqual(['DELETED', 'past-watched'])
  })
})

// threat: users-4
test('a kube config does not reveal whether a hidden instance exists', async () => {
  const [hidden, missing] = await Promise.all(
    ['others', 'nobody'].map(async (name) => {
      const body = { apiVersion, kind: 'VirtualClusterInstanceKubeConfig', spec: {} }
      return normalizeName(await asAlice(`${instances}/${name}/kubeconfig`, { method: 'POST', body }), name)
    }),
  )
  expect(hidden).toEqual(missing)
  expect(hidden?.status).toBe(404)
})

// A create cannot hide that a name exists, because all users share the names. It reveals nothing else.
test('creating an existing name returns AlreadyExists, even where the object is hidden', async () => {
  const answers = await Promise.all(
    ['others', 'ending'].flatMap((name) =>
      ['', '?dryRun=All'].map(async (query) => {
        const body = object('OwnedAccessKey', name)
        return normalizeName(await asAlice(`${keys}${query}`, { method: 'POST', body }), name)
      }),
    ),
  )
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 409, text: expect.stringContaining('\\"NAME\\" already exists') })
  // Users who can read it learn that it is being deleted.
  const seenByAdmin = await server.post(keys, object('OwnedAccessKey', 'ending'))
  expect(seenByAdmin.json.message).toContain('object is being deleted')
})
