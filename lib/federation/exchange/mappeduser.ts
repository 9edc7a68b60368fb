/** Maps the claims of a person's ID token to the user and the groups of an access key (`spec.claimMappings`). */
import { validateIdentity } from '../../access/users/validateidentity.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { holdsCredential } from '../../engine/meta/value/credentialtext.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { isLeftOut, isTrue, unmetEntry } from '../claims.ts'
import type { ClaimMappings } from '../federatedidentitycredential.schema.ts'
import type { IdToken } from '../idtoken.ts'
import { OAuthError, quoteName, quoteValue } from '../oauth/oautherror.ts'
import { leftOut } from './tokenchecks.ts'

export interface MappedUser {
  user: string
  groups: string[]
}

/** Returns the user and the groups. Throws for a name that is missing, not verified or reserved. */
export function mapUser({ claims, audience }: IdToken, { username, groups = [] }: ClaimMappings): MappedUser {
  checkParty(claims, audience)
  const user = readUsername(claims, username)
  const missing = groups.find(({ claim }) => isLeftOut(claims, claim))
  if (missing) throw leftOut(missing.claim)
  const mapped = groups
    .filter(({ claim, value }) => unmetEntry([{ claim, values: [value] }], claims) === undefined)
    .map(({ group }) => group)
  const [problem] = validateIdentity({ user, groups: mapped })
  if (problem || holdsCredential(user))
    throw refused(username.claim, `claim ${quoteName(username.claim)} gives no valid username`)
  return { user, groups: [...new Set(mapped)] }
}

/** Refuses a token that the issuer gave to another client for this audience. */
function checkParty(claims: JsonObject, audience: string): void {
  const party = own(claims, 'azp')
  if (party === undefined || party === audience) return
  const shown = typeof party === 'string' ? quoteValue(party) : 'not a string'
  throw refused('azp', `claim azp is ${shown}, which is not the audience of the subject token`)
}

function readUsername(claims: JsonObject, { claim, prefix }: ClaimMappings['username']): string {
  const value = own(claims, claim)
  if (typeof value !== 'string' || value === '')
    throw refused(
      claim,
      `the subject token has no claim ${quoteName(claim)}, from which this client_id takes the username`,
    )
  if (claim === 'email' && !isTrue(own(claims, 'email_verified')))
    throw refused('email_verified', 'claim email_verified is not true, which this client_id requires of an email')
  return `${prefix}${value}`
}

const refused = (claim: string, description: string): OAuthError =>
  new OAuthError('invalid_request', 'username', description, { claim })
