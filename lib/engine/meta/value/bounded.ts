/** Keeps what a process remembers small. */

/**
 * Sets an entry, and forgets the first one of the map if it has more than `most`. An entry that is there keeps its place: delete it
 * first to make it the last one.
 */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.set(key, value)
  const first = map.keys().next()
  if (map.size > most && !first.done) map.delete(first.value)
}
