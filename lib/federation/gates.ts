/** Keeps the gate of a trust or an identity provider up to date, and computes what follows from its state. */

import { closedBy, endsByField } from '../access/users/ends.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Companion, Stored } from '../engine/storage/interface.ts'
import { announceEnding } from '../keys/credential/boundsecrets.ts'
import { deleteGate, type GateKind, type GateState, writeGate } from '../keys/credential/gates.ts'

/** What trusts and providers have in common. */
interface Gated {
  revision: number
  deleted: boolean
  spec: { disabled?: boolean }
}

type Readable = Pick<Stored, 'object' | 'internal'>

const gateOf = ({ revision, deleted, spec }: Gated): GateState => ({
  revision,
  disabled: spec.disabled === true,
  deleted,
})

/**
 * Returns the function that writes the gate with its object, and says if keys may have ended. `read` reads the object.
 */
export const gateCompanions =
  (kind: GateKind, read: (stored: Readable) => Gated) =>
  (after: Readable | undefined, before: Readable | undefined, now: Date): Companion[] => {
    const { uid = '', name } = (after ?? before)?.object.metadata ?? {}
    const ending = announceEnding(`${kind}#${uid}`, now, name)
    if (!after) return before ? [deleteGate(kind, uid), ending] : []
    const gate = gateOf(read(after))
    const isUnchanged = before !== undefined && deepEqual(gate, gateOf(read(before)))
    return isUnchanged
      ? []
      : before
        ? [writeGate(kind, uid, gate, unixSeconds(now)), ending]
        : [writeGate(kind, uid, gate)]
  }

/** Returns when a change of the spec ends what keys have issued, if it does. `closes` says that it closes the keys themselves. */
export const endOfGate = (old: Gated['spec'], next: Gated['spec'], closes: boolean, now: Date): { ended?: number } =>
  closes || endsByField('disabled', old.disabled) !== endsByField('disabled', next.disabled)
    ? { ended: unixSeconds(now) }
    : {}

/** Returns `status.phase`. */
export const phaseOf = (gated: Gated): string => closedBy(gateOf(gated)) ?? 'Active'
