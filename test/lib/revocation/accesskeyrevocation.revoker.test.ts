/** Tests when a revoker disables a key without its reason: only if the key has no room for that. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createObject } from '../../../lib/engine/registry/create.ts'
import { StorageError, type StorageErrorCode } from '../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../lib/engine/storage/interface.ts'
import { OwnedAccessKey } from '../../../lib/keys/ownedaccesskey.ts'
import { createRevoker, type Outcome, type Target } from '../../../lib/revocation/accesskeyrevocation.revoker.ts'
import { startDeployment, type TestDeployment } from '../../support/deployment.ts'
import { admin, contextOf } from '../../support/users.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

test.each<[StorageErrorCode, Pick<Target, 'names' | 'failed'> & Pick<Outcome, 'failures'>]>([
  ['TooLarge', { names: ['toolarge'], failures: [], failed: 0 }],
  [
    'Unavailable',
    { names: [], failures: [{ name: 'unavailable', code: 503, message: expect.any(String) }], failed: 1 },
  ],
])('a write that ends with %s', async (code, expected) => {
  const store = deployment.parts.storeOf(OwnedAccessKey)
  const name = code.toLowerCase()
  const context = contextOf(admin)
  const object = {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: { name },
    spec: { user: 'alice' },
  }
  const { metadata } = (await createObject(store, { object, secrets: [] }, context)).stored.object
  let writes = 0
  const storage: Storage = {
    ...store.storage,
    update(...call) {
      if (writes++ === 0) throw new StorageError(code, 'refused')
      return store.storage.update(...call)
    },
  }
  const target: Target = {
    store: { ...store, storage },
    selected: [{ name, uid: metadata.uid ?? '' }],
    ownUid: undefined,
    test: () => true,
    names: [],
    failed: 0,
  }
  const outcome: Outcome = { failures: [], remaining: false }
  const revoking = { asked: { action: 'Disable', reason: 'incident' }, manager: 'm' } as const
  await createRevoker({ checkKeyHolds: async () => {} }, revoking, context).revokeAll([target], outcome)
  expect({ ...target, ...outcome }).toMatchObject(expected)
})
