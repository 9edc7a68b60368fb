/** Builds the OwnedAccessKey of an exchange. Its identity says who came in from where, and grants nothing. */

import { createHash } from 'node:crypto'
import { groupVersion } from '../../engine/meta/groupversion.ts'
import { MAX_LABEL } from '../../engine/meta/object/names.ts'
import type { JsonObject, KubeObject } from '../../engine/meta/types.ts'
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import { toPrintable } from '../../engine/meta/value/printable.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import { type IssuerRules, rulesOf } from '../catalogue.ts'
import { claimText, isTrue } from '../claims.ts'
import { FederatedIdentityCredential } from '../federatedidentitycredential.ts'
import type { IdToken } from '../idtoken.ts'
import type { Provider } from '../provider.ts'
import { keyNamePrefix, type Trust } from '../trust.ts'
import type { Grant } from './grant.ts'
import type { MappedUser } from './mappeduser.ts'

const TRUST_LABEL = 'management.platform/federated-identity-credential'
const PROVIDER_LABEL = 'management.platform/identity-provider'

/** Lower case base32 (RFC 4648). */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
/** 60 random bits: two keys of one trust practically never get one name. */
const SUFFIX_LENGTH = 12

/** Returns a name for a key: the name of its trust and a random end. `randomInt` returns an integer below its argument. */
export function exchangedKeyName(trust: string, randomInt: (bound: number) => number): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')
  return `${keyNamePrefix(trust)}${suffix}`
}

const HASH_LENGTH = 16

/** Returns the label value for a name, which is valid except for its length: the name itself, or its beginning and a hash of it. */
function labelOf(name: string): string {
  if (name.length <= MAX_LABEL) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LABEL - HASH_LENGTH - 1)}-${hash}`
}

/** Returns the labels of the keys that come through a trust and a provider. */
export const labelsOf = (trust: string, provider: string): Record<string, string> => ({
  [TRUST_LABEL]: labelOf(trust),
  [PROVIDER_LABEL]: labelOf(provider),
})

/** The parts of an exchange that are in the key. */
export interface Exchanged {
  trust: Trust
  provider: Provider
  token: IdToken
  grant: Grant
  /** The person, if the trust maps claims to users. */
  mapped?: MappedUser
}

/** The kind of trusts, as the owner reference of a key names it. */
const controller = { apiVersion: groupVersion(FederatedIdentityCredential), kind: FederatedIdentityCredential.kind }

/** Returns the key object, without its uid. */
export function exchangedKeyObject(
  name: string,
  { trust, provider, token, grant: { ttl, scope }, mapped }: Exchanged,
): KubeObject {
  const { user, team, subject, groups } = trust.spec
  const rules = rulesOf(provider.spec)
  const claims = recordedClaims(token, rules)
  const person = mapped && personOf(token)
  const displayName = (person && nameOf(person)) ?? displayNameOf(token, rules)
  return {
    apiVersion: groupVersion(OwnedAccessKey),
    kind: OwnedAccessKey.kind,
    metadata: {
      name,
      ownerReferences: [{ ...controller, name: trust.name, uid: trust.uid, controller: true }],
    },
    spec: {
      ...(displayName !== '' && { displayName }),
      ...(mapped
        ? { user: mapped.user, groups: [...new Set([...(groups ?? []), ...mapped.groups])] }
        : { ...(user && { user }), ...(team && { team }), ...(subject && { subject }), ...(groups && { groups }) }),
      type: mapped ? 'Login' : 'Other',
      ttl,
      ...(scope && { scope: scope as unknown as JsonObject }),
      identity: {
        connector: provider.name,
        userId: shorten(token.subject),
        ...person,
        ...(claims.length > 0 && { extraClaims: Object.fromEntries(claims) }),
      },
    },
  }
}

/** Returns a text such as `octo-org/shop production (run 123456)`. */
function displayNameOf({ claims }: IdToken, { display: { parts, number } }: IssuerRules): string {
  const text = (claim: string) => claimText(own(claims, claim))
  const names = parts.map(text).filter((part) => part !== undefined && part !== '')
  const count = number && text(number.claim)
  return shorten([...names, ...(number && count ? [`(${number.word} ${count})`] : [])].join(' '))
}

/** Returns the recorded claims as pairs of name and text. */
export const recordedClaims = ({ claims }: IdToken, { recorded }: Pick<IssuerRules, 'recorded'>): [string, string][] =>
  recorded.flatMap((claim): [string, string][] => {
    const text = claimText(own(claims, claim))
    return text === undefined || text === '' ? [] : [[claim, shorten(text)]]
  })

const MOST_GROUPS = 32

/** What an issuer says about a person. */
type Person = {
  username?: string
  preferredUsername?: string
  email?: string
  emailVerified?: boolean
  groups?: string[]
}

/** Returns the name that people know the person by. An e-mail address counts if the issuer has verified it. */
const nameOf = ({ username, preferredUsername, email, emailVerified }: Person): string | undefined =>
  username ?? preferredUsername ?? (emailVerified ? email : undefined)

function personOf({ claims }: IdToken): Person {
  const text = (claim: string) => {
    const value = own(claims, claim)
    return typeof value === 'string' && value !== '' ? shorten(value) : undefined
  }
  const [username, preferredUsername, email] = [text('name'), text('preferred_username'), text('email')]
  const verified = own(claims, 'email_verified')
  const isSaid = ['true', 'false'].includes(claimText(verified) ?? '')
  const groups = own(claims, 'groups')
  const names = Array.isArray(groups) ? groups.filter((one) => typeof one === 'string').slice(0, MOST_GROUPS) : []
  return {
    ...defined({ username, preferredUsername, email }),
    ...(isSaid && { emailVerified: isTrue(verified) }),
    ...(names.length > 0 && { groups: names.map(shorten) }),
  }
}

const LONGEST_TEXT = 256

/** Returns a printable text without credentials, which every reader of the key may see. */
export function shorten(text: string): string {
  const safe = toPrintable(withoutCredentials(text.slice(0, 16 * LONGEST_TEXT)))
  return [...safe].slice(0, LONGEST_TEXT).join('')
}
