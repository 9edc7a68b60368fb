/** Tests VirtualClusterInstance: the contract of stored kinds, then access to instances. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { listObjects } from '../../lib/registry/read.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { alice, bob, contextOf, userNamed } from '../support/users.ts'
import { describeKind, refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const kind = VirtualClusterInstance

describeKind(kind, () => deployment.parts, {
  valid: { displayName: 'Preview', owner: { user: 'alice' } },
  invalid: [
    { spec: { displayName: 1 }, fields: ['spec.displayName'] },
    { spec: { access: [{ subresources: ['pods'] }] }, fields: ['spec.access[0].subresources[0]'] },
    { spec: { accessPoint: { ingress: { host: 'x'.repeat(254) } } }, fields: ['spec.accessPoint.ingress.host'] },
  ],
  updates: [
    { displayName: 'Other', owner: { user: 'alice' } },
    { owner: { user: 'alice', team: 'ops' }, access: [{ verbs: ['*'], users: ['bob'] }] },
    { owner: { user: 'alice' }, accessPoint: { ingress: { enabled: true, host: 'vc.example.com:8443' } } },
  ],
})

describe('access to an instance', () => {
  // A reader gets 403 for other verbs; a user without read access gets 404.
  test('lists show only readable instances', async () => {
    const world = worldOf(kind, deployment.parts)
    await world.create(world.object({ name: 'own' }, { owner: { user: 'bob' } }))
    await world.create(world.object({ name: 'shared' }, { access: [{ verbs: ['get', 'list'], users: ['bob'] }] }))
    await world.create(world.object({ name: 'others' }, { owner: { user: 'alice' } }))
    const { items } = await listObjects(world.store, { namespace: world.namespace }, 'list', contextOf(bob))
    expect(items.map((one) => one.read().object.metadata.name)).toEqual(['own', 'shared'])
  })

  test('the owner cannot give the instance away', async () => {
    const world = worldOf(kind, deployment.parts)
    await world.create(world.object({ name: 'vc' }, { owner: { user: 'alice' } }))
    const status = await refusal(
      world.change('vc', (live) => ({ ...live, spec: { owner: { user: 'bob' } } }), { context: contextOf(alice) }),
    )
    expect([status.code, status.message]).toEqual([403, expect.stringContaining('spec.owner')])
  })

  test("a reader gets kube-apiserver's message for other verbs, quotes included", async () => {
    const world = worldOf(kind, deployment.parts)
    const name = 'bob "the" <b>'
    await world.create(world.object({ name: 'vc' }, { access: [{ verbs: ['get'], users: [name] }] }))
    const status = await refusal(world.change('vc', (live) => live, { context: contextOf(userNamed(name)) }))
    expect(status.message).toBe(
      `virtualclusterinstances.management.platform "vc" is forbidden: User "bob \\"the\\" &lt;b&gt;" cannot update resource "virtualclusterinstances" in API group "management.platform" in the namespace "${world.namespace}": neither spec.owner nor spec.access of the instance allows it`,
    )
  })
})
