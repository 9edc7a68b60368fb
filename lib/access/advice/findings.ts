/** Finds what could be improved about a key besides the lines of its scope. */

import { DAY_MS } from '../../engine/meta/value/durations.ts'
import { isUnrestricted } from '../scopes/unrestricted.ts'

interface Finding {
  type: 'NeverExpires' | 'ManyAddresses' | 'Unused' | 'NoScope'
  /** A sentence with what to do. */
  message: string
}

export interface KeyFacts {
  now: Date
  created: Date
  /** Absent for a key that never expires. */
  expires?: Date
  /** Absent for a key that was never used. */
  lastActivity?: Date
  /** How many addresses or networks the key came from, of those that are recorded. */
  networks: number
  /** Whole days for which usage has been recorded. */
  days: number
  sourceCIDRs?: readonly string[]
  /** `spec.scope`, of this or another release. */
  scope?: unknown
  /** Whether the key inherited a scope. */
  isInherited?: boolean
}

/** From this many networks on, a key is unlikely to be that of one job. */
const MANY_NETWORKS = 5
const UNUSED_DAYS = 30

/** Returns what could be improved, most urgent first. Returns nothing for a key that needs nothing. */
export function findingsOf(key: KeyFacts): Finding[] {
  const { now, created, expires, lastActivity, networks, days, sourceCIDRs = [], scope, isInherited = false } = key
  if (expires && expires <= now) return []
  const idleDays = Math.floor((now.getTime() - (lastActivity ?? created).getTime()) / DAY_MS)
  const findings: (Finding | false)[] = [
    idleDays >= UNUSED_DAYS && {
      type: 'Unused',
      message: lastActivity
        ? `The key has not been used for ${idleDays} days: disable it, and delete it if nothing needs it.`
        : `The key was created ${idleDays} days ago and has never been used: delete it.`,
    },
    expires === undefined && {
      type: 'NeverExpires',
      message: 'The key never expires: set spec.ttl, and rotate the key before it ends.',
    },
    isUnrestricted(scope) &&
      !isInherited && {
        type: 'NoScope',
        message: 'No scope limits the key: set spec.scope to what it needs.',
      },
    networks >= MANY_NETWORKS &&
      sourceCIDRs.length === 0 && {
        type: 'ManyAddresses',
        message: `The key was used from ${networks} networks or more in ${days} days: set spec.sourceCIDRs, or create a key for each job.`,
      },
  ]
  return findings.filter((finding) => finding !== false)
}
