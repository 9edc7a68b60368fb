/** Says which part of the keys was read, where there are more than the console reads. */
import type { AccessKey } from '../../../core/src/objects.ts'
import { isLikeValue } from '../text/keyvalue.ts'
import { nameProblem } from '../text/names.ts'

/** Returns a number of keys, as `3+` if there are keys that were not read. */
export const countText = (count: number, more: boolean): string => `${count}${more ? '+' : ''}`

/** Returns `3 of 12 keys`. `more` says that there are keys that were not read: then no number is one of all keys. */
export function countWords(shown: number, total: number, more: boolean): string {
  const keys = total === 1 ? '1 key' : `${total} keys`
  if (more) return `${shown < total ? `${shown} of the` : 'All'} ${keys} that were read`
  return shown < total ? `${shown} of ${keys}` : keys
}

/** Returns the name of a key that was not read and that the filter may mean, or undefined. It leads to an address, so it is no value. */
export function unreadName(filter: string, read: readonly AccessKey[]): string | undefined {
  const name = filter.trim()
  const isRead = read.some(({ metadata }) => metadata.name === name)
  return name === '' || isRead || isLikeValue(name) || nameProblem(name) !== undefined ? undefined : name
}
