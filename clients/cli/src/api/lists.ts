/** Reads lists in pages. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { Session } from './session.ts'

const PAGE = 500

/** Returns all objects of a collection that match, as one list in the order of the server. */
export async function listAll(
  session: Session,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<JsonObject & { items: JsonObject[] }> {
  const items: JsonObject[] = []
  for (let next = ''; ; ) {
    const page = await session.get(path, { query: { ...query, limit: String(PAGE), ...(next && { continue: next }) } })
    items.push(...((page.items ?? []) as JsonObject[]))
    next = (page.metadata as { continue?: string } | undefined)?.continue ?? ''
    if (next === '') {
      const { apiVersion = '', kind = '', metadata = {} } = page
      return { apiVersion, kind, metadata, items }
    }
  }
}
