/** Reads the access keys that the person may see, for every page that shows or counts them. */
import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { type Listed, listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { type Polled, usePolled } from '../../session/usepolled.ts'

/** The name of the keys in the cache of the session. */
export const KEYS = 'keys'

const SHORTEST_MS = 15_000
/** With 150 keys in 15 seconds, a page reads some 10 KB a second at most, which a slow line can bear. */
const KEYS_A_STEP = 150

/** Returns the milliseconds between two readings of a list of so many keys. Long lists are read less often. */
export const pollEvery = (count: number): number => SHORTEST_MS * Math.max(1, Math.ceil(count / KEYS_A_STEP))

/** Reads the keys again and again, the less often the more there are. */
export function useKeys(): Polled<Listed<AccessKey>> {
  const [every, setEvery] = useState(pollEvery(0))
  const keys = usePolled<Listed<AccessKey>>(
    KEYS,
    ({ api }, signal, onPart) => listAll(api, paths.keys, signal, onPart),
    every,
  )
  // Another pace begins the reading anew, so it waits until the reading is over.
  const next = keys.data?.isPart ? every : pollEvery(keys.data?.items.length ?? 0)
  if (next !== every) setEvery(next)
  return keys
}
