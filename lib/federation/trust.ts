/** Reads federated identity credentials, called trusts in code, from stored objects. */
import { RIGHT, TRIAL, type TrialInternal } from '../authentication/keyinternal.ts'
import type { Makers } from '../authentication/makers.ts'
import {
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  keptRecord,
  part,
} from '../authentication/strictrecord.ts'
import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { Inherited } from '../authorization/users/identity.ts'
import type { ReviewRight } from '../authorization/users/reviewright.ts'
import type { Identity } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import type { Stored } from '../storage/interface.ts'
import type { TrustSpec } from './federatedidentitycredential.schema.ts'

/** The ttl in seconds of keys from a trust without one. */
export const DEFAULT_TTL = 3600

/** The internal part of a trust, which is stored and versioned with it. */
export interface TrustInternal extends TrialInternal, ReviewRight, Inherited, Makers {
  /** The identity of who made the trust. */
  creator: Identity
  /** The uid of the provider. A provider that is deleted and made again under its name is another one. */
  providerUid: string
  /** Counts the changes that end keys. */
  revision: number
  /** The members that this release does not know. Every write of the trust keeps them. */
  unknown?: JsonObject
}

export interface Trust extends TrustInternal {
  name: string
  uid: string
  /** Whether the trust is being deleted. */
  deleted: boolean
  spec: TrustSpec
}

/** Returns the `client_id` of an exchange: `NAME@UID`. A trust that is deleted and made again has another one. */
export const clientIdOf = ({ name, uid }: Pick<Trust, 'name' | 'uid'>): string => `${name}@${uid}`

const stored = keptRecord(
  'the internal part of a federated identity credential',
  {
    creator: isIdentity,
    carried: part(parseChain),
    providerUid: isNonEmptyText,
    revision: isCount,
  },
  { born: isCount, makers: isNonEmptyTextList, maker: isNonEmptyText, ...RIGHT, ...TRIAL },
)

export const encodeTrustInternal = (internal: TrustInternal): JsonObject => stored.write(internal)

/** Parses the stored form. Throws an Error for anything else. */
export const decodeTrustInternal = (value: JsonObject): TrustInternal => stored.read(value)

/** Returns the trust, whose spec the schema has validated. */
export function toTrust({ object, internal }: Pick<Stored, 'object' | 'internal'>): Trust {
  const { name = '', uid = '', deletionTimestamp } = object.metadata
  return {
    ...decodeTrustInternal(internal),
    name,
    uid,
    deleted: deletionTimestamp !== undefined,
    spec: object.spec as unknown as TrustSpec,
  }
}
