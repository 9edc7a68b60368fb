/** Reads lists page by page. */
import type { List } from '../../../core/src/objects.ts'
import type { Api } from './client.ts'

/** Objects that one request asks for. */
export const PAGE = 500

/** The most objects that a list shows. The command line and kubectl have no such limit. */
export const MAX_LISTED = 2500

export interface Listed<T> {
  items: T[]
  /** Objects beyond MAX_LISTED that are not shown; their number may be unknown. */
  more: boolean
  /** Whether these are the first ones, while the others are still being read. */
  isPart?: true
}

/** Returns all objects of a collection, up to MAX_LISTED. Calls back with what it has so far when more follows. */
export async function listAll<T>(
  api: Api,
  path: string,
  signal: AbortSignal,
  onPart?: (listed: Listed<T>) => void,
): Promise<Listed<T>> {
  const items: T[] = []
  let next = ''
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(next && { continue: next }) })
    const page: List<T> = await api.send(`${path}?${query}`, { signal })
    items.push(...page.items)
    next = page.metadata.continue ?? ''
    if (next !== '' && items.length < MAX_LISTED) onPart?.({ items: [...items], more: true, isPart: true })
  } while (next !== '' && items.length < MAX_LISTED)
  return { items, more: next !== '' }
}
