/** Reads the access keys that the person may see, for every page that shows or counts them. */
import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { type Listed, listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { pollEvery } from '../../api/poller.ts'
import { type Query, useQuery } from '../../session/usequery.ts'

/** The name of the keys in the cache of the session. */
export const KEYS = 'keys'

/** Reads the keys again and again, the less often the more there are. */
export function useKeys(): Query<Listed<AccessKey>> {
  const [every, setEvery] = useState(pollEvery(0))
  const keys = useQuery<Listed<AccessKey>>(
    KEYS,
    ({ api }, signal, onPart) => listAll(api, paths.keys, signal, onPart),
    every,
  )
  // Another pace begins the reading anew, so it waits until the reading is over.
  const next = keys.data?.isPart ? every : pollEvery(keys.data?.items.length ?? 0)
  if (next !== every) setEvery(next)
  return keys
}
