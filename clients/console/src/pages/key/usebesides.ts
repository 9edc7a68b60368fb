import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { useQuery } from '../../session/usequery.ts'

/** Reads, seldom, what costs more than the key. A change of the key reads it, too. */
export const useBesides = <T extends object>({ metadata: { name, uid } }: AccessKey, what: 'history' | 'usage') =>
  useQuery<Partial<T>>(
    `${what}/${uid}`,
    async ({ api }, signal) => (await api.send<{ status?: T }>(paths[what](name), { signal })).status ?? {},
    10 * MINUTE_MS,
  )
