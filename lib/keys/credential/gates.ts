/**
 * Defines the gates of exchanged keys: one item for each trust (FederatedIdentityCredential) and one for each identity
 * provider, written in the transaction of its object. An exchanged key is valid only while both gates are open: both
 * exist, both are enabled, and both have the revisions of the exchange.
 *
 *     pk=trust#UID    sk=# revision=3 disabled=false deleted=false ended=1795257600
 *     pk=provider#UID   sk=# revision=1 disabled=false deleted=false
 */
import type { Federation, PassedGate } from '../../access/users/user.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import type { Companion } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { isCount, isFlag, REVIVES_TOKENS, type RecordOf, restricts, strictRecord, writable } from './strictrecord.ts'

export type GateKind = 'trust' | 'provider'

const GATE = {
  /** Counts the changes of the object that close the keys made before them. */
  revision: restricts('0.1.0', isCount),
  disabled: restricts('0.1.0', isFlag),
  /** The object has a deletionTimestamp, even if finalizers delay its removal. */
  deleted: restricts('0.1.0', isFlag),
}

/** The state of a trust or a provider. */
export interface GateState extends RecordOf<typeof GATE> {}

const GATE_OPTIONAL = {
  /** When it was last closed, or ended keys, in unix seconds. What was issued until then stays dead when it is open again. */
  ended: restricts('0.2.0', isCount, REVIVES_TOKENS),
}

const checked = writable('a gate', { ...GATE, ...GATE_OPTIONAL })

const gateKey = (kind: GateKind, uid: string): ItemKey => ({ pk: `${kind}#${uid}`, sk: '#' })

/** Returns the item keys of both gates, that of the trust first. */
export const gateKeys = ({ trust, provider }: Pick<Federation, 'trust' | 'provider'>): [ItemKey, ItemKey] => [
  gateKey('trust', trust.uid),
  gateKey('provider', provider.uid),
]

/** Returns the write of a gate, for the transaction that creates or changes its object. Without `ended`, the earlier one stays. */
export const writeGate = (
  kind: GateKind,
  uid: string,
  { revision, disabled, deleted }: GateState,
  ended?: number,
): Companion => ({
  op: 'set',
  ...gateKey(kind, uid),
  attributes: checked({ revision, disabled, deleted, ...(ended !== undefined && { ended }) }),
})

/** Returns the write that removes a gate, for the transaction that removes its object. */
export const deleteGate = (kind: GateKind, uid: string): Companion => ({ op: 'delete', ...gateKey(kind, uid) })

/** The items of `gateKeys` as they were read, consistently. */
export type Gates = readonly ({ attributes: JsonObject } | undefined)[]

/**
 * Returns the message of the 401 for a key whose gates are not both open, or undefined. Throws an Error for an item that is not in the
 * form of `writeGate`.
 */
export function findClosedGate(federation: Federation, [trust, provider]: Gates): string | undefined {
  const trustProblem = problemOf(federation.trust, trust)
  if (trustProblem !== undefined) return `the federated identity credential of the access key ${trustProblem}`
  const providerProblem = problemOf(federation.provider, provider)
  return providerProblem && `the identity provider of the access key ${providerProblem}`
}

/** Returns when one of these gates was last closed, in unix seconds; -1 for never. */
export const endOfGates = (gates: Gates): number =>
  Math.max(
    -1,
    ...gates.map((gate) => (gate && strictRecord('a gate', gate.attributes, GATE, GATE_OPTIONAL).ended) ?? -1),
  )

/** Requires that both gates are still open. Storage rejects the write (CompanionChanged) when one is not. */
export function requireOpenGates(federation: Federation): Companion[] {
  const [trustKey, providerKey] = gateKeys(federation)
  const open = ({ revision }: PassedGate) => ({ attributes: { revision, disabled: false, deleted: false } })
  return [
    { op: 'unchanged', ...trustKey, ...open(federation.trust) },
    { op: 'unchanged', ...providerKey, ...open(federation.provider) },
  ]
}

function problemOf(passed: PassedGate, gate: { attributes: JsonObject } | undefined): string | undefined {
  if (gate === undefined) return 'has been deleted'
  const { revision, disabled, deleted } = strictRecord('a gate', gate.attributes, GATE)
  if (deleted) return 'is being deleted'
  if (disabled) return 'is disabled'
  return revision === passed.revision ? undefined : 'has changed since the exchange: exchange another ID token'
}
