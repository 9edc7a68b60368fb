import type { AccessKey } from '../../../../../core/src/objects.ts'
import { useNow } from '../../../components/hooks/usenow.ts'
import { type LifeState, lifeLine, lifeWords } from './life.ts'

/** The shape of the end, around the point where the key expires: each state has its own, so that no colour is needed. */
const ENDS: Readonly<Record<LifeState, string>> = {
  works: 'M0 -5V5',
  soon: 'M-6 0L0 -6L6 0L0 6Z',
  stopped: 'M-2 -5V5M2 -5V5',
  expired: 'M-4 -4L4 4M-4 4L4 -4',
}
const OPEN_END = 'M-5 -5L0 0L-5 5'

/** Shows the life of a key as a line: a dot for the last use, a filled part for the time that has passed, and the end. */
export function LifeBar({ accessKey }: { accessKey: AccessKey }) {
  const now = useNow()
  const life = lifeLine(accessKey, now)
  if (!life) return null
  const percent = (place: number) => `${place}%`
  return (
    <svg class={`life ${life.state}`} role="img" width="100%" height="14">
      <title>{lifeWords(accessKey, now)}</title>
      <g transform="translate(0 7)">
        <line class="whole" x2="100%" />
        <line x2={percent(life.now)} />
        {life.used !== undefined && <circle class="used" cx={percent(life.used)} r="3" />}
        <svg x="100%" overflow="visible" aria-hidden="true">
          <path class="end" d={life.isOpen ? OPEN_END : ENDS[life.state]} />
        </svg>
      </g>
    </svg>
  )
}
