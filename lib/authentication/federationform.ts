/**
 * Reads and writes the stored form of what an exchanged key came through. Every function reads it with the user of the
 * request, so it is apart from `gates.ts`, which few functions load.
 */
import type { Federation, PassedGate } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import { isCount, isNonEmptyText, strictRecord } from './strictrecord.ts'

const PASSED = { uid: isNonEmptyText, revision: isCount }

/** Returns the stored form. */
export const storedFederation = ({ trust, provider }: Federation): JsonObject => ({
  trust: { uid: trust.uid, revision: trust.revision },
  provider: { uid: provider.uid, revision: provider.revision },
})

/** Parses the stored form. Throws an Error for anything else. */
export function parseFederation(value: unknown): Federation {
  const { trust, provider } = strictRecord('a federation', value, { trust: () => true, provider: () => true })
  return {
    trust: strictRecord('the trust of a federation', trust, PASSED) as unknown as PassedGate,
    provider: strictRecord('the provider of a federation', provider, PASSED) as unknown as PassedGate,
  }
}
