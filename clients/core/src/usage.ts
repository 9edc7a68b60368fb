/** Explains the use of an access key, as the API says it: docs/usage.md. */

import type { FromSchema } from '../../../lib/engine/meta/schema/schema.ts'
import type { status } from '../../../lib/keys/ownedaccesskeyusage.schema.ts'
import type { AccessKey, Item, Scope, Sending } from './objects.ts'

type Usage = Sending<
  FromSchema<typeof status>,
  { entries: 'request' | 'lastUsed'; clusters: 'name'; lines: 'line' | 'state'; findings: 'type' | 'message' }
>

/** The status of an OwnedAccessKeyUsage. */
export type KeyUsage = Omit<Usage, 'advice'> & {
  advice?: Sending<Item<Usage['advice']>, { unknowns: 'reason' | 'message' }>
}

export type UsageEntry = Item<Usage['entries']>

export type UsedLine = Item<Usage['lines']>

/** Returns what the key did, and what it asked for and was refused. */
export function requestsIn({ entries = [] }: KeyUsage): { done: UsageEntry[]; refused: UsageEntry[] } {
  return { done: entries.filter((one) => !one.refused), refused: entries.filter((one) => one.refused) }
}

/** Returns the last day on which a cluster, `clusters/NAME` or `virtualclusters/NAMESPACE/NAME`, asked about the key or accepted it. */
export function lastUseWords({ recording, clusters = [] }: KeyUsage, cluster: string): string {
  if (recording === false) return 'unknown'
  const { lastAsked = '', lastAccepted = '' } = clusters.find(({ name }) => name === cluster) ?? {}
  return [lastAsked, lastAccepted].sort().at(-1) || 'none recorded'
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

/** Returns the entries of a scope with the names of their lines, such as `projects[0]`. */
export const entriesOf = (scope: Scope = {}): { line: string; alone: Scope }[] =>
  Object.entries(scope).flatMap(([list, value]: [string, unknown]) =>
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
