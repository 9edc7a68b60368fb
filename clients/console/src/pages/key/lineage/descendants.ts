/** Finds what a key made, among the keys that the person may see. */
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { MAX_LISTED } from '../../../api/lists.ts'

export interface Descendant {
  key: AccessKey
  made: readonly Descendant[]
}

/** Returns what the key made, and what those keys made, by name. */
export function descendantsOf(uid: string, keys: readonly AccessKey[]): Descendant[] {
  const byMaker = new Map<string, AccessKey[]>()
  for (const key of [...keys].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const maker = key.status?.madeWith?.uid
    if (maker !== undefined) byMaker.set(maker, [...(byMaker.get(maker) ?? []), key])
  }
  // Taking what is found out of the map ends a circle, which only a broken answer could have.
  const take = (maker: string): Descendant[] => {
    const found = byMaker.get(maker) ?? []
    byMaker.delete(maker)
    return found.map((key) => ({ key, made: take(key.metadata.uid) }))
  }
  return take(uid)
}

/** Returns how many keys there are in all. */
export const countOf = (tree: readonly Descendant[]): number =>
  tree.reduce((count, { made }) => count + 1 + countOf(made), 0)

/** Returns the name of the key that made it, if the person may see that key. */
export const visibleMaker = (uid: string, keys: readonly AccessKey[]): string | undefined =>
  keys.find(({ metadata }) => metadata.uid === uid)?.metadata.name

/** Returns what the list does not say: that there is none, or that not all keys were read. */
export function readWords(found: number, more: boolean): string | undefined {
  if (!more) return found === 0 ? 'You see no key that was made with this one.' : undefined
  const part = `the first ${MAX_LISTED} keys that you may see`
  const words = found === 0 ? `None of ${part} was made with this one.` : `These are among ${part}.`
  return `${words} There are more: the dry run of “Revoke all that it made” counts all of them.`
}
