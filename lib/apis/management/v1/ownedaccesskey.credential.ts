/** Prepares the credential items that are written when an access key is created, updated or deleted. */
import { duplicateKey } from '../../../authentication/accesskey.ts'
import {
  createCredential,
  deleteCredential,
  hasSealedValue,
  requireAbsentCredentials,
  rotateCredential,
  updateCredential,
} from '../../../authentication/credential.ts'
import { decodeKeyInternal, encodeKeyInternal } from '../../../authentication/keyinternal.ts'
import { type EndedValue, sameHash } from '../../../authentication/keyvalues.ts'
import { identityOf } from '../../../authorization/users/identity.ts'
import { chainAfterChange, inheritedChain } from '../../../authorization/users/privilege.ts'
import { invalidObject } from '../../../meta/errors/status.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import { group } from './group.ts'
import { changesSpec, keyPath, kind, sealedOf, specOf, suppliedKey, toKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

/** The values that a change of an internal part ends, by the internal part after it. */
const endedBefore = new WeakMap<JsonObject, readonly EndedValue[]>()

/** Records the values that a change to `internal` ends, besides those that ended on the way to `before`. */
export function recordEnded(internal: JsonObject, ended: readonly EndedValue[], before?: JsonObject): void {
  endedBefore.set(internal, [...((before && endedBefore.get(before)) ?? []), ...ended])
}

/** Creates the credential of a new key from the supplied value, or from a generated one. The response shows the value. */
export async function prepareForCreate(
  { keys }: Services,
  draft: Draft,
  { user, note }: RequestContext,
): Promise<void> {
  const key = suppliedKey(draft.secrets) ?? keys.generate()
  const [credential] = await keys.hashes(key)
  if (!credential) throw new Error('there is no pepper to hash access keys with')
  draft.internal = encodeKeyInternal({ creator: identityOf(user), carried: inheritedChain(user), credential })
  draft.reveal = [{ path: keyPath, value: key }]
  note('credential', 'access key')
}

/** Updates the credential and the inherited scopes when a request changes the key. */
export async function prepareForUpdate(
  services: Services,
  draft: Draft,
  old: Stored,
  { user, note }: RequestContext,
): Promise<void> {
  const { keys } = services
  const internal = decodeKeyInternal(old.internal)
  const supplied = suppliedKey(draft.secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const rotated = hashes[0] !== undefined && !hashes.some((hash) => sameHash(hash, internal.credential))
  note('credential', rotated ? 'access key' : undefined)
  const sealed = Object.entries(sealedOf(draft.secrets))
  const stored = sealed.length > 0 ? ((await keys.readCredential(internal.credential)) ?? {}) : {}
  if (rotated || sealed.some(([path, value]) => !hasSealedValue(stored, path, value))) draft.specChanged = true
  const carried = changesSpec(draft, old) ? chainAfterChange(user, toKey(old), specOf(draft.object)) : internal.carried
  draft.internal = encodeKeyInternal({
    ...internal,
    carried,
    ...(rotated && hashes[0] && { credential: hashes[0] }),
  })
}

/**
 * Throws 422 if another key has the supplied value. This check also serves dry runs, which write nothing. The hash under
 * which the key is stored guards the write. The returned items guard it too: another request may store the value at the
 * same time under the hash of another pepper. If the key itself already has the value, another request wrote it since it
 * was read. The condition on its row then fails, and the request is evaluated again.
 */
async function demandUnused(
  { keys }: Services,
  { object, internal, secrets }: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] },
): Promise<Companion[]> {
  const supplied = suppliedKey(secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const found = await Promise.all(hashes.map((hash) => keys.readCredential(hash)))
  const { name = '' } = object.metadata
  if (found.some((one) => one !== undefined && one.name !== name)) {
    throw invalidObject(group, kind, name, [duplicateKey()])
  }
  const { credential } = decodeKeyInternal(internal)
  return requireAbsentCredentials(hashes.filter((hash) => !sameHash(hash, credential)))
}

/** Returns the parts of the object that its credential repeats. If they are unchanged, the credential is not written. */
const credentialParts = ({ object, internal }: Pick<Stored, 'object' | 'internal'>) => ({
  spec: object.spec ?? {},
  deleted: object.metadata.deletionTimestamp !== undefined,
  generation: object.metadata.generation,
  internal,
})

/** Returns the credential items that are written with the key. `after` is undefined when the key is removed. */
export async function companions(
  services: Services,
  after: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] } | undefined,
  before: Stored | undefined,
): Promise<readonly Companion[]> {
  const { keys } = services
  if (!after) return before ? deleteCredential(before) : []
  const sealed = sealedOf(after.secrets)
  if (!before) {
    const unused = await demandUnused(services, after)
    return [...createCredential(after, sealed, keys.limits), ...unused]
  }
  const from = decodeKeyInternal(before.internal).credential
  const to = decodeKeyInternal(after.internal).credential
  if (!sameHash(from, to)) {
    const unused = await demandUnused(services, after)
    const old = (await keys.readCredential(from)) ?? {}
    return [...rotateCredential(after, from, old, sealed, keys.limits), ...unused]
  }
  const unchanged = Object.keys(sealed).length === 0 && deepEqual(credentialParts(after), credentialParts(before))
  const activity = before.activity === undefined ? undefined : Math.floor(before.activity / 1000)
  return unchanged ? [] : updateCredential(after, sealed, keys.limits, activity)
}
