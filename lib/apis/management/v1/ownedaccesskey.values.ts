/** What is read of an access key: of one that is stored, and of what a request brings. */
import type { Sealed } from '../../../authentication/credential.ts'
import { readInternal } from '../../../authentication/keyinternal.ts'
import { lifeOf } from '../../../authentication/keystatus.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import type { Key, KeySpec } from '../../../authorization/users/identity.ts'
import { effectiveChain } from '../../../authorization/users/privilege.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../../meta/types.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Draft } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'

export const kind = 'OwnedAccessKey'

/** Where the key's value stands. */
export const keyPath = ['spec', 'key']

const isKey = ({ path }: Secret): boolean => path.join('.') === keyPath.join('.')

/** The key that a request supplies. */
export const suppliedKey = (secrets: readonly Secret[]): string | undefined => {
  const value = secrets.find(isKey)?.value
  return typeof value === 'string' ? value : undefined
}

/** The other write-only values, by their path below spec. */
export const sealedOf = (secrets: readonly Secret[]): Sealed =>
  Object.fromEntries(
    secrets
      .filter((secret) => !isKey(secret) && typeof secret.value === 'string')
      .map(({ path, value }) => [path.slice(1).join('.'), value as string]),
  )

/** Its spec, which the schema has judged. */
export const specOf = ({ spec }: KubeObject): KeySpec => (spec ?? {}) as KeySpec

/** What rules know of the key. */
export function keyOf({ object, internal }: Pick<Stored, 'object' | 'internal'>): Key {
  const { creator, carried } = readInternal(internal)
  return { uid: object.metadata.uid ?? '', spec: specOf(object), creator, carried }
}

/** The scopes that a request with this key must pass. */
export const scopesOf = (stored: Stored): ScopeChain => effectiveChain(keyOf(stored))

/** What a change does to a key besides its spec: whether it gets another value; and since when the key is there. */
export const changeOf = (draft: Draft, old: Stored): { created: number; isRotated: boolean } => ({
  created: lifeOf(old.object).created,
  isRotated: !deepEqual(draft.internal.credential, old.internal.credential),
})

/** Whether anything of the key's spec is about to change, the values that nobody sees included. */
export const changesSpec = (draft: Draft, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(draft.object.spec ?? {}, old.object.spec ?? {})
