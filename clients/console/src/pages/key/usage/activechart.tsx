import type { KeyUsage } from '../../../../../core/src/usage.ts'
import { useNow } from '../../../components/hooks/usenow.ts'
import { ACTIVE_DAYS, activeDays, activeWords, minutesWords, onDay } from './usedlines.ts'

/** Units of the drawing. */
const [STEP, BAR, HEIGHT, LEAST] = [6, 4, 56, 3]

/** Shows the days of use as bars, in a sentence, and as a table. */
export function ActiveChart({ active }: { active: NonNullable<KeyUsage['active']> }) {
  const now = useNow()
  const days = activeDays(active, now)
  const used = days.filter(({ minutes }) => minutes > 0)
  return (
    <div class="active">
      <p>{activeWords(days)}</p>
      {used.length > 0 && (
        <>
          <svg viewBox={`0 0 ${ACTIVE_DAYS * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {days.map(({ day, minutes, part }, index) => {
              const height = Math.max(LEAST, part * HEIGHT)
              return minutes === 0 ? null : (
                <rect x={index * STEP + 1} y={HEIGHT - height} width={BAR} height={height} key={day}>
                  <title>{`${onDay(day)}: ${minutesWords(minutes)}`}</title>
                </rect>
              )
            })}
          </svg>
          <p class="ends muted" aria-hidden="true">
            <span>{onDay(days[0]?.day ?? '')}</span>
            <span>Today</span>
          </p>
          <details>
            <summary>The days as a table</summary>
            <table>
              <thead>
                <tr>
                  <th scope="col">Day (UTC)</th>
                  <th scope="col">Minutes with a use</th>
                </tr>
              </thead>
              <tbody>
                {used.toReversed().map(({ day, minutes }) => (
                  <tr key={day}>
                    <td>{onDay(day)}</td>
                    <td>{minutes}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        </>
      )}
    </div>
  )
}
