/** One text for equal JSON values: what decides whether two scopes, or two fields that are protected, are the same. */
import { stringify } from '../../meta/encoding/json.ts'

/** Equal exactly for values that differ in nothing but the order of members; undefined has a text of its own. */
export const canonicalText = (value: unknown): string => (value === undefined ? '' : stringify(sorted(value)))

/** Objects as the sorted list of their members, wrapped so that no list has the text of an object. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([member, one]) => [member, sorted(one)]) }
}
