/** Tests what a caller with a scope may do with credentials that do not have it: delete them, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import type { JsonObject, KubeObject, ObjectMeta } from '../../lib/engine/meta/types.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { storedKinds } from '../../lib/server/storedkinds.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, contextOf, withScopes } from '../support/users.ts'
import { refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
  const providers = worldOf(IdentityProvider, deployment.parts)
  await providers.create(providers.object({ name: 'issuer' }, { issuer: 'https://issuer.example.com' }))
})
afterAll(() => deployment?.stop())

const all: Scope = { rules: [{ resources: [{ group: 'management.platform' }] }] }
const specs: Readonly<Record<string, JsonObject>> = {
  [IdentityProvider.kind]: { issuer: 'https://issuer.example.com' },
  [FederatedIdentityCredential.kind]: {
    identityProvider: 'issuer',
    claims: [{ claim: 'sub', values: ['a'] }],
    user: 'admin',
    scope: {},
  },
}
const FINALIZERS = ['example.com/wait']

type Change = (live: KubeObject) => KubeObject
const ofMetadata =
  (change: (metadata: ObjectMeta) => ObjectMeta): Change =>
  (live) => ({ ...live, metadata: change(live.metadata) })
const manager = {
  manager: 'mallory',
  operation: 'Apply' as const,
  apiVersion: 'management.platform/v1',
  fieldsType: 'FieldsV1' as const,
  fieldsV1: { 'f:spec': {} },
}
const changes: Readonly<Record<string, Change>> = {
  annotations: ofMetadata((metadata) => ({ ...metadata, annotations: { a: 'b' } })),
  labels: ofMetadata((metadata) => ({ ...metadata, labels: { a: 'b' } })),
  'a finalizer': ofMetadata((metadata) => ({ ...metadata, finalizers: [...FINALIZERS, 'example.com/more'] })),
  'no finalizer': ofMetadata(({ finalizers: _, ...metadata }) => metadata),
  owners: ofMetadata((metadata) => ({
    ...metadata,
    ownerReferences: [{ apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'a', uid: 'b' }],
  })),
  'managed fields': ofMetadata((metadata) => ({ ...metadata, managedFields: [manager] })),
  'a text': (live) => ({ ...live, spec: { ...live.spec, displayName: 'Mallory' } }),
}

const credentials = storedKinds.filter(({ isCredential }) => isCredential)

describe.each(credentials)('$kind', (kind) => {
  let count = 0
  async function made(metadata: ObjectMeta = { finalizers: FINALIZERS }, spec: JsonObject = {}) {
    const world = worldOf(kind, deployment.parts)
    const name = `beyond-${++count}`
    await world.create(world.object({ name, ...metadata }, { ...specs[kind.kind], ...spec }))
    const context = () => contextOf(withScopes(admin, all))
    return { world, name, context }
  }
  const reason =
    /the access key used has a scope that this .* does not inherit|may write only providers that have this scope/

  // threat: users-10
  test.each(Object.entries(changes))(
    'beyond the scopes of a caller keeps its metadata and spec: %s',
    async (what, change) => {
      for (const isDeleted of [false, true]) {
        const { world, name, context } = await made()
        if (isDeleted) await world.remove(name)
        const before = await world.read(name)
        const { code, message } = await refusal(world.change(name, change, { context: context() }))
        // Nobody adds a finalizer to an object that is being deleted.
        if (isDeleted && what === 'a finalizer') expect(code).toBe(422)
        else expect([code, message]).toEqual([403, expect.stringMatching(reason)])
        expect(await world.read(name)).toEqual(before)
      }
    },
  )

  test('beyond the scopes of a caller can be written back, and deleted', async () => {
    const { world, name, context } = await made()
    await world.change(name, (live) => live, { context: context() })
    const marked = await world.remove(name, {}, context())
    expect(marked.gone).toBe(false)
    await world.remove(name, { propagationPolicy: 'Orphan' }, context())
    const plain = await made({})
    expect((await world.remove(plain.name, {}, context())).gone).toBe(true)
  })

  // threat: users-10
  test('beyond the scopes of a caller keeps its status', async () => {
    const { world, name, context } = await made()
    const change: Change = (live) => ({ ...live, status: { phase: 'Other' } })
    const refused = await refusal(world.change(name, change, { context: context(), subresource: 'status' }))
    expect([refused.code, refused.message]).toEqual([403, expect.stringMatching(reason)])
    expect((await world.read(name)).object.status).toBeUndefined()
    await world.change(name, change, { subresource: 'status' })
  })

  test('with the scopes of a caller can be changed', async () => {
    const { world, name, context } = await made({}, { scope: all as JsonObject })
    for (const change of [changes.annotations, changes.labels]) {
      await world.change(name, change ?? ((live) => live), { context: context() })
    }
    expect((await world.read(name)).object.metadata.annotations).toEqual({ a: 'b' })
  })
})

test('an identity provider beyond the scopes of a caller can be disabled, without anything else', async () => {
  const world = worldOf(IdentityProvider, deployment.parts)
  await world.create(world.object({ name: 'disabled' }, specs[IdentityProvider.kind]))
  const context = contextOf(withScopes(admin, all))
  const disable: Change = (live) => ({ ...live, spec: { ...live.spec, disabled: true } })
  const both = world.change('disabled', (live) => changes.annotations?.(disable(live)) ?? live, { context })
  expect((await refusal(both)).code).toBe(403)
  await world.change('disabled', disable, { context })
})
