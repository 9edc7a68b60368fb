/** Tests what a revocation must not get wrong: which keys it finds, what finding them costs, and whether it is a dry run. */

import { expect, test } from 'vitest'
import { parseSpaceNamespace } from '../../../lib/access/scopes/space.ts'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { OwnedAccessKey } from '../../../lib/keys/ownedaccesskey.ts'
import { findKeys } from '../../../lib/revocation/accesskeyrevocation.find.ts'
import { revokeKeys } from '../../../lib/revocation/accesskeyrevocation.run.ts'
import { useFunctions } from '../../support/functions.ts'
import { admin, bob, contextOf, withScopes } from '../../support/users.ts'

const functions = useFunctions()
const revoke = (spec: object, query: Record<string, string> = {}) =>
  functions.invoke('accesskeyrevocations/create', { query, body: { spec } })

// threat: revocation-5
test('`unscoped` selects keys without a scope and keys whose scope allows everything', async () => {
  const scopes = { none: undefined, empty: {}, open: { rules: [{}] }, project: { projects: [{ project: 'demo' }] } }
  for (const [name, scope] of Object.entries(scopes)) {
    const body = { metadata: { name }, spec: { user: 'alice', ...(scope && { scope }) } }
    expect((await functions.invoke('ownedaccesskeys/create', { body })).status).toBe(201)
  }
  const { json } = await revoke({ unscoped: true }, { dryRun: 'All' })
  expect(json.status.keys.map(({ name }: { name: string }) => name)).toEqual(['none', 'open'])
})

const lookalikes = ['dryrun', 'dry_run', 'dry-run', 'dryRun[]', 'DryRun', 'dryRun ', 'isDryRun', 'dry']

// threat: revocation-2
test.each(lookalikes)('%j is refused, so that no mistake revokes keys', async (name) => {
  const body = { metadata: { name: 'kept' }, spec: { user: 'bob' } }
  await functions.invoke('ownedaccesskeys/create', { body })
  const parameters = { name: 'kept' }
  const answers = [
    await revoke({ users: ['bob'] }, { [name]: 'All' }),
    await functions.invoke('ownedaccesskeys/rotate', { parameters, query: { [name]: 'All' }, body: {} }),
  ]
  const message = `unknown query parameter ${JSON.stringify(name)}: a dry run is requested with dryRun=All`
  for (const { status, json } of answers) expect([status, json.message]).toEqual([400, message])
  const { json } = await functions.invoke('ownedaccesskeys/get', { parameters })
  expect([json.spec.disabled, json.status.values?.length ?? 1]).toEqual([undefined, 1])
})

test('other unknown parameters are ignored', async () => {
  const { status } = await revoke({ users: ['nobody'] }, { dryRun: 'All', dr: '1', timeout: '30s' })
  expect(status).toBe(201)
})

// threat: revocation-6
test('a list of names costs no more reads than a list of the keys that the user may see', async () => {
  const { parts } = functions.get()
  const store = parts.storeOf(OwnedAccessKey)
  const reads = async (user: UserInfo) => {
    const taken = { get: 0, list: 0 }
    const storage: typeof store.storage = {
      ...store.storage,
      get(...asked) {
        taken.get++
        return store.storage.get(...asked)
      },
      list(...asked) {
        taken.list++
        return store.storage.list(...asked)
      },
    }
    const services = {
      keyStore: () => ({ ...store, storage }),
      scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
    }
    const names = Array.from({ length: 1000 }, (_, index) => `k${index}`)
    const found = await findKeys(services, { names }, () => true, contextOf(user))
    return [found.keys.length, taken]
  }
  const body = { metadata: { name: 'k500' }, spec: { user: 'bob' } }
  expect((await functions.invoke('ownedaccesskeys/create', { body })).status).toBe(201)
  expect(await reads(bob)).toEqual([1, { get: 0, list: 1 }])
  const one = { rules: [{ resources: [{ group: 'management.platform' }], resourceNames: ['k500'] }] }
  expect(await reads(withScopes(bob, one))).toEqual([1, { get: 1, list: 0 }])
  expect(await reads(withScopes(admin, {}))).toEqual([0, { get: 0, list: 0 }])
})

// threat: revocation-7
test('a scoped key does not take keys out of a revocation by changing their labels', async () => {
  const body = { metadata: { name: 'labelled', labels: { app: 'shop' } }, spec: { user: 'bob' } }
  await functions.invoke('ownedaccesskeys/create', { body })
  const relabel = (user: UserInfo) =>
    functions.invoke('ownedaccesskeys/patch', {
      user,
      parameters: { name: 'labelled' },
      headers: { 'content-type': 'application/merge-patch+json' },
      query: {},
      body: { metadata: { labels: { app: null } } },
    })
  const { status, json } = await relabel(withScopes(bob, { rules: [{ verbs: ['get', 'patch'] }] }))
  expect([status, json.message]).toEqual([
    403,
    'ownedaccesskeys.management.platform "labelled" is forbidden: the access key used has a scope that this access key does not inherit',
  ])
  expect((await relabel(bob)).status).toBe(200)
})

test('clusters are named only for keys whose history the user may read', async () => {
  const { parts } = functions.get()
  const known = async (resources: string[]) => {
    const allowed = withScopes(bob, { rules: [{ resources: [{ group: 'management.platform', resources }] }] })
    const found = await findKeys(parts, { names: ['k500'] }, () => true, contextOf(allowed))
    return [found.keys.length, found.known.size]
  }
  expect(await known(['ownedaccesskeys', 'ownedaccesskeys/history'])).toEqual([1, 1])
  expect(await known(['ownedaccesskeys'])).toEqual([1, 0])
})

test('a revocation succeeds although what clusters have confirmed cannot be read, and says so', async () => {
  const { parts } = functions.get()
  const store = parts.keyStore()
  const queryCompanions = () => Promise.reject(new Error('away'))
  const services = Object.assign(Object.create(parts) as typeof parts, {
    checkKeyHolds: async () => {},
    keyStore: () => ({ ...store, storage: { ...store.storage, queryCompanions } }),
  })
  const warnings: string[] = []
  const context = { ...contextOf(admin), warn: (text: string) => void warnings.push(text) }
  const status = await revokeKeys(services, { names: ['k500'] }, '', context)
  expect([status.done, warnings]).toEqual([1, [expect.stringContaining('is not known')]])
})
