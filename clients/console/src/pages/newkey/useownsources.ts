import { useEffect, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { useSession } from '../../session/session.ts'

/** Returns the addresses to which the signed-in key is limited, as soon as they are known. The preview says less without them. */
export function useOwnSources(): readonly string[] | undefined {
  const { api, self } = useSession()
  const [sources, setSources] = useState<readonly string[]>()
  useEffect(() => {
    const ended = new AbortController()
    api.send<AccessKey>(paths.key(self.accessKey), { signal: ended.signal }).then(
      ({ spec }) => setSources(spec.sourceCIDRs),
      () => {},
    )
    return () => ended.abort()
  }, [api, self])
  return sources
}
