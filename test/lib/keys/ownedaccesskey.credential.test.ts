/** Tests which values may be supplied as new ones. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { requireNewValue } from '../../../lib/keys/ownedaccesskey.credential.ts'
import type { Services } from '../../../lib/keys/services.ts'
import { tombstoneAttributes } from '../../../lib/keys/values/tombstone.ts'
import { HASH, itemOf, storedKey } from './keys.ts'

const tombstone = tombstoneAttributes({ ended: 'rotated', name: 'ci', uid: 'u-1', user: 'admin', at: 1 }, 100)

test.each<[string, string, JsonObject | undefined, boolean]>([
  ['nobody has is new', 'ci', undefined, true],
  ['the key itself has is no other', 'ci', itemOf(storedKey()), true],
  ['another key has is not new', 'other', itemOf(storedKey()), false],
  ['the key itself had, and that ended, cannot be supplied again', 'ci', tombstone, false],
])('a value that %s', async (_, known, item, isNew) => {
  const keys = { readCredential: async () => item } as unknown as Services['keys']
  const required = requireNewValue({ keys }, known, { hashes: [HASH], stored: HASH, known })
  if (isNew) expect(await required).toEqual([])
  else await expect(required).rejects.toMatchObject({ status: { code: 422, details: { causes: [{}] } } })
})
