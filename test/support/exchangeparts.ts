/** Provides what a server in the process of a test needs besides to exchange ID tokens. */
import type { Storage } from '../../lib/engine/storage/interface.ts'
import { createRefusals } from '../../lib/federation/exchange/refusals.ts'
import { createSignatureLimit } from '../../lib/federation/exchange/signaturelimit.ts'

/** Returns the properties of a function that has just started. It accepts every signature, and logs nothing. */
export function exchangeParts(storage: Storage): PropertyDescriptorMap {
  const failed = (error: unknown) => {
    throw error
  }
  return {
    issuerKeys: { value: { verify: async () => 'valid' } },
    signatures: { value: createSignatureLimit() },
    refusals: { value: createRefusals({ storage, now: Date.now, failed }) },
    log: { value: () => undefined },
  }
}
