/** Reads lists page by page. */
import type { List } from '../../../core/src/objects.ts'
import type { Api } from './client.ts'

/** Objects that one request asks for. */
const PAGE = 500

/** The most objects that a list shows. The command line and kubectl have no such limit. */
export const MAX_LISTED = 2500

export interface Listed<T> {
  items: T[]
  /** Objects beyond MAX_LISTED that are not shown; their number may be unknown. */
  more: boolean
}

/** Returns all objects of a collection, up to MAX_LISTED. */
export async function listAll<T>(api: Api, path: string, signal: AbortSignal): Promise<Listed<T>> {
  const items: T[] = []
  let next = ''
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(next && { continue: next }) })
    const page: List<T> = await api.send(`${path}?${query}`, { signal })
    items.push(...page.items)
    next = page.metadata.continue ?? ''
  } while (next !== '' && items.length < MAX_LISTED)
  return { items, more: next !== '' }
}
