/**
 * Reads and writes the internal part of a key, which is stored and versioned with the key and never leaves the server.
 */
import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import type { Federation, Identity } from '../authorization/users/user.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { parseFederation, storedFederation } from './federationform.ts'
import type { KeyHash } from './pepper.ts'
import { isCount, isIdentity, isNonEmptyText, strictRecord, unknownMembers } from './strictrecord.ts'

export interface KeyInternal {
  /** The identity of the key's creator. */
  creator: Identity
  /** The scopes inherited from the key that created this one, without its own scope. */
  carried: ScopeChain
  /** Where the credential is stored. */
  credential: KeyHash
  /** Present when an exchange made the key. It never changes. */
  federation?: Federation
  /** Unix seconds. Reviews refuse tokens of the key that were issued before it. Present when a value of the key has leaked. */
  tokensNotBefore?: number
  /** The members that this release does not know. Whoever writes the key keeps them. */
  unknown?: JsonObject
}

/** Returns the stored form. */
export const encodeKeyInternal = ({
  unknown,
  creator,
  carried,
  credential,
  federation,
  tokensNotBefore,
}: KeyInternal): JsonObject => ({
  ...unknown,
  creator,
  carried: carried as unknown as JsonValue,
  credential: { version: credential.version, hash: credential.hash },
  ...(federation && { federation: storedFederation(federation) }),
  ...(tokensNotBefore !== undefined && { tokensNotBefore }),
})

/** Stored forms that have been read. One request needs a key's for its access, its status and its write, and none changes it. */
const known = new WeakMap<JsonObject, KeyInternal>()

/** Parses the stored form, once per stored object. Throws an Error for anything else. */
export function decodeKeyInternal(value: JsonObject): KeyInternal {
  const internal = known.get(value) ?? parseKeyInternal(value)
  known.set(value, internal)
  return internal
}

function parseKeyInternal(value: JsonObject): KeyInternal {
  const what = 'the internal part of a key'
  const { creator, carried, credential, federation, tokensNotBefore } = strictRecord(what, value, MEMBERS, OPTIONAL)
  const { version, hash } = strictRecord('the credential of a key', credential, {
    version: isNonEmptyText,
    hash: isNonEmptyText,
  })
  return {
    creator: creator as Identity,
    carried: parseChain(carried),
    credential: { version: version as string, hash: hash as string },
    ...(federation !== undefined && { federation: parseFederation(federation) }),
    ...(tokensNotBefore !== undefined && { tokensNotBefore: tokensNotBefore as number }),
    ...unknownMembers(value, MEMBERS, OPTIONAL),
  }
}

const MEMBERS = { creator: isIdentity, carried: Array.isArray, credential: () => true }
const OPTIONAL = { federation: () => true, tokensNotBefore: isCount }
