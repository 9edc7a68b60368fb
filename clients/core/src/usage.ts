/** Declares what the API says of the use of an access key, as far as clients show it: docs/usage.md. */
import type { AccessKey, Scope } from './objects.ts'

/** The status of an OwnedAccessKeyUsage. */
export interface KeyUsage {
  recording?: boolean
  since?: string
  complete?: boolean
  /** The last first, then those that the scopes refused. */
  entries?: UsageEntry[]
  /** Whether the scopes refused more than entries has. */
  refusedMore?: boolean
  clusters?: { name: string; lastAccepted?: string; lastAsked?: string }[]
  lines?: UsedLine[]
  advice?: Advice
  findings?: { type: string; message: string }[]
}

export interface UsageEntry {
  request: string
  scope?: Scope
  lastUsed: string
  /** Whether the scopes refused it: it was asked for, and is no use of the key. */
  refused?: boolean
}

/** Returns what the key did, and what it asked for and was refused. */
export function requestsIn({ entries = [] }: KeyUsage): { done: UsageEntry[]; refused: UsageEntry[] } {
  return { done: entries.filter((one) => !one.refused), refused: entries.filter((one) => one.refused) }
}

/**
 * Returns what to say about a key without recorded requests. Requests that every scope allows are not recorded, but count as a use. If
 * the record is younger than the key, earlier uses may have been of any kind.
 */
export function noRequestsWords({ metadata, status }: AccessKey, usage: KeyUsage): string {
  const { recording, since = '', complete, clusters = [] } = usage
  const isWhole = recording !== false && complete !== false && since !== '' && since <= metadata.creationTimestamp
  return isWhole && clusters.length === 0 && status?.lastActivity !== undefined
    ? 'The key was used only for requests that every key may send, such as asking who it is.'
    : 'No requests are recorded.'
}

export interface UsedLine {
  /** Such as `spec.scope.projects[0]`, or `chain[1].spec.scope.projects[0]` for a key that inherited scopes. */
  line: string
  state: string
  lastUsed?: string
}

export interface Advice {
  /** Absent if there is none, or if an unknown withholds it. */
  scope?: Scope
  removed?: string[]
  added?: string[]
  unknowns?: { reason: string; message: string; withholds?: boolean }[]
}

/** Returns the entries of a scope with the names of their lines, such as `projects[0]`. */
export const entriesOf = (scope: Scope = {}): { line: string; alone: Scope }[] =>
  Object.entries(scope).flatMap(([list, value]) =>
    Array.isArray(value)
      ? value.map((entry, index) => ({ line: `${list}[${index}]`, alone: { [list]: [entry] } }))
      : value
        ? [{ line: list, alone: { [list]: value } }]
        : [],
  )

/** Returns the entry of the key's own scope that a line names, or undefined for a line that it inherited. */
export function entryOf({ spec }: AccessKey, { line }: UsedLine, lines: readonly UsedLine[]): Scope | undefined {
  const [, chain, own] = LINE.exec(line) ?? []
  // The key's own scope is the last one of the chain.
  const last = Math.max(...lines.map((one) => Number(LINE.exec(one.line)?.[1] ?? -1)))
  if (chain !== undefined && Number(chain) !== last) return undefined
  return entriesOf(spec?.scope).find((one) => one.line === own)?.alone
}

const LINE = /^(?:chain\[(\d+)\]\.)?spec\.scope\.(.*)$/
