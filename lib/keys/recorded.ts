import { withoutAnyName } from '../access/advice/usedentry.ts'
import { describeRequest } from '../access/scopes/evaluate.ts'
import { exactEntry } from '../access/scopes/exactentry.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { stringify } from '../engine/meta/encoding/json.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import type { CompanionItem, Storage } from '../engine/storage/interface.ts'
import type { RecordedUsage } from './usage/items.ts'

/** The most pages of 1 MB that are read. A process writes at most 64 reads and 64 changes of a key a day, so this is never reached by honest use. */
const MOST_PAGES = 4

export async function readPartition(
  storage: Pick<Storage, 'queryCompanions'>,
  pk: string,
): Promise<{ items: CompanionItem[]; isWhole: boolean }> {
  const items: CompanionItem[] = []
  let after: string | undefined
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await storage.queryCompanions(pk, defined({ after }))
    items.push(...page.items)
    after = page.next
    if (after === undefined) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}

/** Requests of a key as people read them. */
interface ShownRequest {
  /** In words. */
  request: string
  /** The scope entry that allows the requests and nothing else. Absent when no rule is that narrow. */
  scope?: JsonObject
  day: string
}

/**
 * Returns the entries as people read them, the latest first. Requests without a name and those with any name are two entries for the
 * decisions of scopes, and one here.
 */
export function shownRequests({ entries }: Pick<RecordedUsage, 'entries'>, options: ScopeOptions): ShownRequest[] {
  const shown = new Map<string, ShownRequest>()
  for (const { entry, day } of entries) {
    const attributes = withoutAnyName(entry.attributes)
    const request = describeRequest(attributes, options)
    const scope = exactEntry(attributes, options) as JsonObject | undefined
    const text = stringify([request, scope ?? null])
    const other = shown.get(text) ?? { day }
    shown.set(text, {
      request,
      ...(scope && { scope }),
      day: day > other.day ? day : other.day,
    })
  }
  return [...shown.values()].sort((one, other) => (one.day < other.day ? 1 : -1))
}
