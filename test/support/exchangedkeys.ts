/** Creates access keys as an exchange does, and sets their gates. */

import type { ScopeChain } from '../../lib/access/scopes/scope.ts'
import { internalContext } from '../../lib/access/users/internalcontext.ts'
import type { Federation, Identity } from '../../lib/access/users/user.ts'
import type { JsonObject, ObjectMeta } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import type { Store } from '../../lib/engine/registry/store.ts'
import type { Companion, Storage } from '../../lib/engine/storage/interface.ts'
import { type GateKind, type GateState, gateKeys } from '../../lib/keys/credential/gates.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { KeyIntent } from '../../lib/keys/ownedaccesskey.values.ts'
import { endless } from './deadlines.ts'

let count = 0

/** Returns a trust and a provider that no other test uses. */
export function newFederation(): Federation {
  count += 1
  return {
    trust: { uid: `trust-${count}`, revision: 1 },
    provider: { uid: `provider-${count}`, revision: 1 },
    run: `run-${count}`,
  }
}

/** Writes a gate, by default as it was at the exchange, or removes it. */
export async function setGate(
  { storage }: { storage: Storage },
  federation: Federation,
  kind: GateKind,
  state: Partial<GateState> | 'missing' = {},
): Promise<void> {
  const [trustKey, providerKey] = gateKeys(federation)
  const [key, { revision }] = kind === 'trust' ? [trustKey, federation.trust] : [providerKey, federation.provider]
  const options = { deadline: endless }
  const attributes = state === 'missing' ? null : { revision, disabled: false, deleted: false, ...state }
  await storage.writeCompanion({ ...key, attributes }, options)
}

/** Opens both gates. */
export async function openGates(server: { storage: Storage }, federation: Federation): Promise<void> {
  await setGate(server, federation, 'trust')
  await setGate(server, federation, 'provider')
}

export interface Exchanged {
  metadata?: ObjectMeta
  spec?: JsonObject
  creator?: Identity
  carried?: ScopeChain
  companions?: readonly Companion[]
  now?: Date
}

/** Creates a key of alice that lives for an hour, and returns its name and its value. */
export async function createExchangedKey(
  server: { storage: Storage; storeOf(kind: typeof OwnedAccessKey): Store<KeyIntent> },
  federation: Federation,
  { metadata = {}, spec = {}, creator = 'user:alice', carried = [], companions = [], now = new Date() }: Exchanged = {},
): Promise<{ name: string; token: string }> {
  const store = server.storeOf(OwnedAccessKey)
  const signedIn = spec.type === 'Login' ? { signedIn: Math.floor(now.getTime() / 1000) } : {}
  const { labels = {}, ...others } = metadata
  const origin = { creator, carried, federation, ...signedIn }
  const intent = { type: 'exchange', labels, origin, records: async () => companions } as const
  count += 1
  const object = {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: { name: `exchanged-${count}`, ...others },
    spec: { type: 'Other', ttl: 3600, ...spec },
  }
  const context = internalContext('system:exchange', now, endless)
  const { reveal, stored } = await createObject(store, { object, secrets: [], intent }, context)
  return { name: stored.key, token: String(reveal?.[0]?.value) }
}
