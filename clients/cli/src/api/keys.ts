/** Defines what commands read of access keys, and where they are. */
import type { JsonValue } from '../../../../lib/engine/meta/types.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { UsageError } from '../io/errors.ts'
import { API } from './session.ts'

const KEYS = `${API}/ownedaccesskeys`
const TRUSTS = `${API}/federatedidentitycredentials`
const PROVIDERS = `${API}/identityproviders`

export const trustsPath = (): string => TRUSTS
export const providersPath = (): string => PROVIDERS

/** Names that no object has, and with which a path would be that of something else: of all keys, for an empty one. */
const NO_NAME = /^\.{0,2}$|[/%]/

/** Throws a UsageError for a text that cannot be a name. */
export function demandName(text: string, of = 'an access key'): void {
  if (NO_NAME.test(text)) throw new UsageError(`"${text}" is not the name of ${of}.`)
}

/** Returns the path of the keys, or of one. Throws a UsageError for a text that cannot be a name. */
export function keyPath(name?: string): string {
  if (name === undefined) return KEYS
  demandName(name)
  return `${KEYS}/${encodeURIComponent(name)}`
}

/** Returns the path of a trust. Throws a UsageError for a text that cannot be a name. */
export function trustPath(name: string): string {
  demandName(name, 'a trust')
  return `${TRUSTS}/${encodeURIComponent(name)}`
}

/** Returns what a response says of a key. The server answers only with valid objects. */
export const asKey = (object: JsonValue): AccessKey => object as unknown as AccessKey

/** Returns the state in words: `active`, or `active, new value not used yet` during a rotation. */
export function stateOf({ status }: AccessKey): string {
  const phase = status?.phase?.toLowerCase() ?? 'unknown'
  const states = new Set(status?.values?.map(({ state }) => state))
  if (states.has('Pending')) return `${phase}, new value not used yet`
  return states.has('Retiring') ? `${phase}, old value still works` : phase
}
