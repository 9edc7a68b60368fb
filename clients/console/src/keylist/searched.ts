/** Tells which keys were read, and found besides, where there are more than the console reads. */
import type { AccessKey } from '../../../core/src/objects.ts'

/** Returns a number of keys, as `3+` if there are keys that were not read. */
export const countText = (count: number, more: boolean): string => `${count}${more ? '+' : ''}`

/** Returns `3 of 12 keys`. `more` says that there are keys that were not read: then no number is one of all keys. */
export function countWords(shown: number, total: number, more: boolean): string {
  const keys = total === 1 ? '1 key' : `${total} keys`
  if (more) return `${shown < total ? `${shown} of the` : 'All'} ${keys} that were read`
  return shown < total ? `${shown} of ${keys}` : keys
}

/** Returns the keys that were read, and those that were found besides. */
export function merged(read: readonly AccessKey[], found: readonly AccessKey[]): readonly AccessKey[] {
  if (found.length === 0) return read
  const uids = new Set(read.map(({ metadata }) => metadata.uid))
  const others = found.filter(({ metadata }) => !uids.has(metadata.uid))
  return others.length === 0 ? read : [...read, ...others]
}
