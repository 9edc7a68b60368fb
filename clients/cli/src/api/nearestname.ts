/** Finds the name that somebody means who gives one that nothing has. */

import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { nearest } from '../../../core/src/words/nearest.ts'
import type { CallOptions } from './call.ts'

interface Reads {
  get(path: string, options?: CallOptions): Promise<JsonObject>
}

/** Lists of more names than that take too long for a guess. */
const MOST = 500
const PATIENCE_MILLISECONDS = 3000

/** Returns a question with the nearest name in the collection of the path, such as that of keys, or undefined if there is none near. */
export async function nearestName(session: Reads, path: string): Promise<string | undefined> {
  const [, collection, encoded] = /^(\/apis\/[^/]+\/[^/]+(?:\/namespaces\/[^/]+)?\/[^/]+)\/([^/]+)/.exec(path) ?? []
  if (collection === undefined || encoded === undefined) return undefined
  try {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS)
    const { items } = await session.get(collection, { query: { limit: String(MOST) }, signal })
    const names = ((items ?? []) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
    const guess = nearest(decodeURIComponent(encoded), names)
    return guess === undefined ? undefined : `Did you mean "${guess}"?`
  } catch {
    return undefined
  }
}
