import type { AccessKey } from '../../../../core/src/objects.ts'
import { Badge } from '../../components/badge.tsx'
import { useNow } from '../../components/hooks/usenow.ts'
import { cards, needs } from '../../keylist/attention.ts'

/** Says what else needs attention. What leaks and rotations need is said where they are shown. */
export function Needs({ accessKey }: { accessKey: AccessKey }) {
  const now = useNow()
  const all = [...cards].map(
    ([name, { title, about }]) =>
      name !== 'leaked' &&
      name !== 'rotation-pending' &&
      needs(name, accessKey, now) && (
        <p key={name}>
          <Badge tone="warn" text={title} /> <span class="muted">{about}</span>
        </p>
      ),
  )
  return <>{all}</>
}
