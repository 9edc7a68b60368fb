/** Tests that no review calls a request allowed that nobody can make, because the resource does not have its verb. */
import { beforeAll, describe, expect, test } from 'vitest'
import { makeObjects } from '../support/askedrequests.ts'
import { keys } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
const group = 'management.platform'
const own = { group, resource: 'ownedaccesskeys', name: 'a' }
const instance = { group, resource: 'virtualclusterinstances', namespace: 'p-a', name: 'a' }

let alice: MadeKey
let admin: MadeKey

beforeAll(async () => {
  await makeObjects(server)
  alice = await server.makeKey({ user: 'alice' })
  admin = await server.makeKey({ user: 'root', groups: ['system:masters'] })
})

const post = (path: string, spec: object, token: string): Promise<Answer> =>
  server.call(path, { method: 'POST', token, body: { spec } })

const reviews = '/apis/authorization.k8s.io/v1'

/** Asks every review about the same request of the holder of a key. */
const ask = async (key: MadeKey, user: object, resourceAttributes: object): Promise<Answer['json'][]> => {
  const answers = [
    await post(`${reviews}/selfsubjectaccessreviews`, { resourceAttributes }, key.token),
    await post(`${reviews}/subjectaccessreviews`, { ...user, resourceAttributes }, server.adminKey),
    await post(`${keys}/${key.name}/accessreview`, { resourceAttributes }, server.adminKey),
  ]
  return answers.map(({ json }) => json.status)
}

const asAlice = (attributes: object) => ask(alice, { user: 'alice' }, attributes)
const allowed = (is: boolean) => [1, 2, 3].map(() => expect.objectContaining({ allowed: is }))

describe('a review', () => {
  // threat: users-17
  test.each<[string, object]>([
    ...['impersonate', 'escalate', 'bind', 'GET', 'use', 'watchlist'].map((verb): [string, object] => [verb, own]),
    ...['impersonate', 'GET'].map((verb): [string, object] => [verb, instance]),
    ['create', { ...own, subresource: 'usage' }],
    ['get', { ...own, subresource: 'rotate' }],
    ['delete', { ...own, subresource: 'status' }],
    ['get', { ...own, subresource: 'nothing' }],
    ['impersonate', { group, resource: 'ownedaccesskeys' }],
  ])('denies %s of %j, also of the owner', async (verb, attributes) => {
    const answers = await asAlice({ ...attributes, verb })
    expect(answers).toEqual(allowed(false))
    for (const { reason } of answers) expect(reason).toBe(`the resource has no verb "${verb}"`)
  })

  // threat: users-17
  test('denies a request without a verb', async () => {
    const [self, subject] = await asAlice({ ...own, verb: '' })
    expect([self.allowed, subject.allowed]).toEqual([false, false])
  })

  test('still allows the verbs that the resource has, `use` of an instance and all of them', async () => {
    for (const verb of ['get', 'update', 'deletecollection', '*']) {
      expect([verb, ...(await asAlice({ ...own, verb }))]).toEqual([verb, ...allowed(true)])
    }
    expect(await asAlice({ ...own, verb: 'create', subresource: 'rotate' })).toEqual(allowed(true))
    expect(await asAlice({ ...instance, verb: 'use' })).toEqual(allowed(true))
  })

  test('allows every verb to system:masters, as kube-apiserver does', async () => {
    const masters = { user: 'root', groups: ['system:masters'] }
    expect(await ask(admin, masters, { ...own, verb: 'impersonate' })).toEqual(allowed(true))
  })

  test('judges every verb of a cluster by the scope', async () => {
    const key = await server.makeKey({ user: 'alice', scope: { clusters: [{ cluster: 'eu' }] } })
    const resourceAttributes = { verb: 'impersonate', resource: 'users' }
    const spec = { resourceAttributes, target: { cluster: 'eu' } }
    expect((await post(`${keys}/${key.name}/accessreview`, spec, server.adminKey)).json.status.allowed).toBe(true)
  })
})
