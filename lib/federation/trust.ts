/** Reads federated identity credentials, called trusts in code, from stored objects. */

import type { JsonObject } from '../engine/meta/types.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { MADE, MADE_OPTIONAL } from '../keys/credential/keyinternal.ts'
import { isCount, isNonEmptyText, type Kept, keptRecord, type RecordOf } from '../keys/credential/strictrecord.ts'
import type { TrustSpec } from './federatedidentitycredential.schema.ts'

/** The ttl in seconds of keys from a trust without one. */
export const DEFAULT_TTL = 3600

const REQUIRED = {
  ...MADE,
  /** The uid of the provider. A provider that is deleted and made again under its name is another one. */
  providerUid: isNonEmptyText,
  /** Counts the changes that end keys. */
  revision: isCount,
}

const OPTIONAL = {
  ...MADE_OPTIONAL,
  /** When it was last closed, opened, or ended keys, in unix seconds. Its gate has the same. */
  ended: isCount,
}

/** The internal part of a trust, which is stored and versioned with it. */
export interface TrustInternal extends RecordOf<typeof REQUIRED, typeof OPTIONAL>, Kept {}

export interface Trust extends TrustInternal {
  name: string
  uid: string
  /** Whether the trust is being deleted. */
  deleted: boolean
  spec: TrustSpec
}

/** Returns the `client_id` of an exchange: `NAME@UID`. A trust that is deleted and made again has another one. */
export const clientIdOf = ({ name, uid }: Pick<Trust, 'name' | 'uid'>): string => `${name}@${uid}`

const LONGEST_PREFIX = 200

/** Returns what the names of all keys that come through a trust begin with. */
export const keyNamePrefix = (trust: string): string => `${trust.slice(0, LONGEST_PREFIX).replace(/[-.]+$/, '')}-`

const stored = keptRecord('the internal part of a federated identity credential', REQUIRED, OPTIONAL)

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
