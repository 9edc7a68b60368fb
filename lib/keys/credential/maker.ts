/**
 * Makes writes of credentials conditional on the access key of the request. Otherwise a request in flight while its key is
 * revoked could still create another key.
 */
import { credentialChanged } from '../../engine/meta/errors/status.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'
import type { Store } from '../../engine/registry/store.ts'
import type { Companion, Mutation, Storage, Stored } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import { requireUnchangedCredential, requireUnused } from './credential.ts'
import { findClosedGate, gateKeys, requireOpenGates } from './gates.ts'

/**
 * Adds the condition that the access key of the request has not changed since the request was allowed, and that the gates
 * of an exchanged key are still open. If the first use of a new value of the key would end that of the request at once, the
 * new one must be unused. A key that changes itself needs only this: its write is already conditional on the object that was
 * read. The server's own requests have no credential. Throws 401 if the write itself changes that credential: another object
 * must have it then.
 */
export async function bindToMaker(
  { kind, storage }: Pick<Store, 'kind' | 'storage'>,
  current: Stored | undefined,
  mutation: Mutation,
  { user }: RequestContext,
): Promise<Mutation> {
  const { key, credential, federation } = user
  if (mutation.type === 'none' || !kind.isCredential || !credential) return mutation
  const unused = credential.successor ? [requireUnused(key, credential.successor)] : []
  const { companions = [] } = mutation
  if (current !== undefined && current.object.metadata.uid === key.uid) {
    const [check] = unused
    return check === undefined ? mutation : { ...mutation, companions: await guard(storage, companions, check) }
  }
  const maker = requireUnchangedCredential(key, credential)
  const isWritten = (item: ItemKey) => companions.some(({ pk, sk }) => pk === item.pk && sk === item.sk)
  if (isWritten(maker)) throw credentialChanged()
  const gates = federation ? requireOpenGates(federation) : []
  const checked = gates.filter((gate) => !isWritten(gate))
  // The change of a trust or a provider with a key that came through it: a transaction cannot both check and write its gate. The
  // gate changes only with the object that was read, on which the write is conditional.
  if (federation && checked.length < gates.length) {
    const closed = findClosedGate(federation, await storage.getCompanions(gateKeys(federation)))
    if (closed !== undefined) throw credentialChanged()
  }
  return { ...mutation, companions: [...companions, maker, ...unused, ...checked] }
}

/**
 * Adds the check to the items of a write, or its condition to the item that the write changes anyway. Throws 401 if the
 * condition does not hold: after a lost race the mutation runs again, which a failed condition counts as.
 */
async function guard(
  storage: Pick<Storage, 'getCompanions'>,
  companions: readonly Companion[],
  { op, ...check }: Extract<Companion, { op: 'unchanged' }>,
): Promise<readonly Companion[]> {
  const { pk, sk, attributes, lacks } = check
  const written = companions.find((one) => one.pk === pk && one.sk === sk)
  if (written === undefined) return [...companions, { op, ...check }]
  const stored = (await getCompanion(storage, { pk, sk }))?.attributes
  if (stored === undefined || lacks?.some((name) => Object.hasOwn(stored, name))) throw credentialChanged()
  const when = { attributes, ...(lacks && { lacks }) }
  return companions.map((one) =>
    one === written && one.op !== 'absent' && one.op !== 'unchanged' ? { ...one, when } : one,
  )
}
