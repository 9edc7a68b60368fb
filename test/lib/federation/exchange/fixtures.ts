/** An ID token, a trust and a provider, whose gates are open, for the tests of exchanges. */

import type { Exchanged } from '../../../../lib/federation/exchange/exchangedkey.ts'
import type { IdToken } from '../../../../lib/federation/idtoken.ts'
import { newFederation, openGates } from '../../../support/exchangedkeys.ts'
import type { World } from '../../engine/controllers/world.ts'

export const HOUR = 3600
/** When the ID token was issued, in Unix seconds. */
export const issued = Math.floor(Date.now() / 1000)

const idToken: IdToken = {
  alg: 'RS256',
  issuer: 'https://ci.example.com',
  audience: 'keyplane',
  subject: 'job',
  issuedAt: issued,
  expires: issued + 4 * HOUR,
  claims: {},
  signingInput: '',
  signature: new Uint8Array(),
  text: '',
}

/** Returns what a new trust of team shop grants for a new ID token. */
export async function newExchanged(world: World): Promise<Exchanged> {
  const federation = newFederation()
  await openGates(world, federation)
  const { trust, provider } = federation
  const spec = { identityProvider: 'ci', claims: [], team: 'shop' }
  const made = { name: 'shop', providerUid: provider.uid, creator: 'user:admin', carried: [], deleted: false } as const
  return {
    trust: { ...trust, ...made, spec },
    provider: { ...provider, name: 'ci', deleted: false, spec: { issuer: 'https://ci.example.com' } },
    token: { ...idToken, signingInput: `${trust.uid}.payload` },
    grant: { ttl: HOUR, carried: [] },
  }
}
