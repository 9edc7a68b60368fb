/** Defines what commands read of access keys, and where they are. */
import type { KeyTextName } from '../../../../lib/apis/management/v1/ownedaccesskey.texts.ts'
import type { JsonObject, JsonValue } from '../../../../lib/meta/types.ts'
import { UsageError } from '../io/errors.ts'
import { API, type Session } from './session.ts'

/** An access key, as far as commands read it. */
export interface AccessKey {
  metadata: { name: string; uid?: string; creationTimestamp?: string; labels?: Record<string, string> }
  spec?: Partial<Record<KeyTextName, string>> & {
    /** Only in the response that creates the key. */
    key?: string
    disabled?: boolean
    ttl?: number
    ttlAfterLastActivity?: boolean
    scope?: JsonObject
    sourceCIDRs?: string[]
    groups?: string[]
    type?: string
  }
  status?: {
    owner?: string
    phase?: string
    lastActivity?: string
    expirationTimestamp?: string
    lastRotation?: string
    lastSources?: { ip?: string; userAgent?: string; lastSeen?: string }[]
    values?: { hint?: string; state?: string; made?: string; lastActivity?: string; until?: string }[]
  }
}

const KEYS = `${API}/ownedaccesskeys`

/** Names that no object has, and with which a path would be that of something else: of all keys, for an empty one. */
const NO_NAME = /^\.{0,2}$|[/%]/

/** Throws a UsageError for a text that cannot be the name of a key. */
export function demandName(text: string): void {
  if (NO_NAME.test(text)) throw new UsageError(`"${text}" is not the name of an access key.`)
}

/** Returns the path of the keys, or of one. Throws a UsageError for a text that cannot be a name. */
export function keyPath(name?: string): string {
  if (name === undefined) return KEYS
  demandName(name)
  return `${KEYS}/${encodeURIComponent(name)}`
}

/** Returns what a response says of a key. The server answers only with valid objects. */
export const asKey = (object: JsonValue): AccessKey => object as unknown as AccessKey

const PAGE = 500

/** Returns all keys that match, as one list. Reads it in pages. */
export async function listKeys(
  session: Session,
  query: Readonly<Record<string, string>>,
): Promise<JsonObject & { items: JsonObject[] }> {
  const items: JsonObject[] = []
  let next: string | undefined
  for (;;) {
    const page = await session.get(keyPath(), {
      query: { ...query, limit: String(PAGE), ...(next && { continue: next }) },
    })
    items.push(...((page.items ?? []) as JsonObject[]))
    next = (page.metadata as { continue?: string } | undefined)?.continue
    if (!next) {
      const { apiVersion = '', kind = '', metadata = {} } = page
      return { apiVersion, kind, metadata, items }
    }
  }
}

/** Returns the state in words: `active`, or `active, new value not used yet` during a rotation. */
export function stateOf({ status }: AccessKey): string {
  const phase = status?.phase?.toLowerCase() ?? 'unknown'
  const states = new Set(status?.values?.map(({ state }) => state))
  if (states.has('Pending')) return `${phase}, new value not used yet`
  return states.has('Retiring') ? `${phase}, old value still works` : phase
}
