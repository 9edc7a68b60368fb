/** What becomes of a key's credential when the key is made, changed or removed. */
import { duplicateKey } from '../../../authentication/accesskey.ts'
import {
  createCredential,
  deleteCredential,
  hasSealedValue,
  requireAbsentCredentials,
  rotateCredential,
  updateCredential,
} from '../../../authentication/credential.ts'
import { readInternal, writeInternal } from '../../../authentication/keyinternal.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import { identityOf } from '../../../authorization/users/identity.ts'
import { chainAfterChange, inheritedChain } from '../../../authorization/users/privilege.ts'
import { invalidObject } from '../../../meta/errors/status.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import { group } from './group.ts'
import { changesSpec, keyOf, keyPath, kind, sealedOf, specOf, suppliedKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

const sameHash = (one: KeyHash, other: KeyHash): boolean => one.version === other.version && one.hash === other.hash

/** A new credential for a new key: of the value that is supplied, or of one of ours; the answer shows it. */
export async function prepareForCreate(
  { keys }: Services,
  draft: Draft,
  { user, note }: RequestContext,
): Promise<void> {
  const key = suppliedKey(draft.secrets) ?? keys.generate()
  const [credential] = await keys.hashes(key)
  if (!credential) throw new Error('no pepper is there to hash access keys with')
  draft.internal = writeInternal({ creator: identityOf(user), carried: inheritedChain(user), credential })
  draft.reveal = [{ path: keyPath, value: key }]
  note('credential', 'access key')
}

/** Moves on what the credential and the inherited scopes are when a request changes the key. */
export async function prepareForUpdate(
  services: Services,
  draft: Draft,
  old: Stored,
  { user, note }: RequestContext,
): Promise<void> {
  const { keys } = services
  const internal = readInternal(old.internal)
  const supplied = suppliedKey(draft.secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const rotated = hashes[0] !== undefined && !hashes.some((hash) => sameHash(hash, internal.credential))
  note('credential', rotated ? 'access key' : undefined)
  const sealed = Object.entries(sealedOf(draft.secrets))
  const stored = sealed.length > 0 ? ((await keys.readCredential(internal.credential)) ?? {}) : {}
  if (rotated || sealed.some(([path, value]) => !hasSealedValue(stored, path, value))) draft.specChanged = true
  const carried = changesSpec(draft, old) ? chainAfterChange(user, keyOf(old), specOf(draft.object)) : internal.carried
  draft.internal = writeInternal({
    ...internal,
    carried,
    ...(rotated && hashes[0] && { credential: hashes[0] }),
  })
}

/**
 * Throws 422 where another key has the supplied value, as a dry run, which writes nothing, must learn it too. The write is
 * guarded by the hash under which the key lies, and by what is returned: the value may also lie, or come to lie at the
 * same time, under the hash of another pepper. Where the key itself has the value already, it has been written since it was
 * read: the condition on its row refuses this write, which is then judged again.
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
  const { credential } = readInternal(internal)
  return requireAbsentCredentials(hashes.filter((hash) => !sameHash(hash, credential)))
}

/** What of the object its credential repeats: unchanged, the credential need not be written. */
const credentialParts = ({ object, internal }: Pick<Stored, 'object' | 'internal'>) => ({
  spec: object.spec ?? {},
  deleted: object.metadata.deletionTimestamp !== undefined,
  generation: object.metadata.generation,
  internal,
})

/** The credential items that are written with the key; `after` undefined = the key goes. */
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
  const from = readInternal(before.internal).credential
  const to = readInternal(after.internal).credential
  if (!sameHash(from, to)) {
    const unused = await demandUnused(services, after)
    const old = (await keys.readCredential(from)) ?? {}
    return [...rotateCredential(after, from, old, sealed, keys.limits), ...unused]
  }
  const unchanged = Object.keys(sealed).length === 0 && deepEqual(credentialParts(after), credentialParts(before))
  const activity = before.activity === undefined ? undefined : Math.floor(before.activity / 1000)
  return unchanged ? [] : updateCredential(after, sealed, keys.limits, activity)
}
