/** Loads what is known of each platform: data beside the script, which the browser needs for these pages only. */
import { DAY_MS } from '../../../../../../lib/engine/meta/value/durations.ts'
import { NetworkError } from '../../../api/status.ts'
import { type Query, useQuery } from '../../../session/usequery.ts'
import type { Platform } from './platforms.ts'

export const usePlatforms = (): Query<readonly Platform[]> =>
  useQuery(
    'platforms',
    async (_, signal) => {
      const name = document.querySelector<HTMLMetaElement>('meta[name="keyplane-platforms"]')?.content ?? ''
      const response = await fetch(new URL(name, import.meta.url), { signal, credentials: 'omit' })
      if (!response.ok) throw new NetworkError(response.status)
      return await response.json()
    },
    DAY_MS,
  )
