/** What is stored beside a key, versioned with it, and never leaves the server. */
import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import type { Identity } from '../authorization/users/user.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { KeyHash } from './pepper.ts'
import { isIdentity, isNonEmptyText, strictRecord } from './strictrecord.ts'

export interface KeyInternal {
  /** Whom the one who made the key stood for. */
  creator: Identity
  /** The scopes inherited from the key that made this one; its own scope is not among them. */
  carried: ScopeChain
  /** Where the credential lies. */
  credential: KeyHash
}

/** The form in which it is stored. */
export const writeInternal = ({ creator, carried, credential }: KeyInternal): JsonObject => ({
  creator,
  carried: carried as unknown as JsonValue,
  credential: { version: credential.version, hash: credential.hash },
})

/** Throws an Error when the value is not what `writeInternal` makes. */
export function readInternal(value: JsonObject): KeyInternal {
  const { creator, carried, credential } = strictRecord('the internal part of a key', value, {
    creator: isIdentity,
    carried: Array.isArray,
    credential: () => true,
  })
  const { version, hash } = strictRecord('the credential of a key', credential, {
    version: isNonEmptyText,
    hash: isNonEmptyText,
  })
  return {
    creator: creator as Identity,
    carried: parseChain(carried),
    credential: { version: version as string, hash: hash as string },
  }
}
