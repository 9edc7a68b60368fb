import { useState } from 'preact/hooks'
import { Foreign } from '../../../components/foreign.tsx'
import { useWidth } from '../../../components/hooks/usewidth.ts'
import {
  dayFrom,
  dayWidth,
  type ExpiryDay,
  lanesOf,
  STRIP_DAYS,
  stripWidth,
  ticksOf,
} from '../../../keylist/expiries.ts'
import { expiryWindows, isWindowName } from '../../../keylist/expirywindows.ts'
import { dayWords } from '../../../text/times.ts'

export interface StripProps {
  days: readonly ExpiryDay[]
  now: Date
  /** A day, or the name of a window of time. */
  chosen: string | undefined
  choose(day: string | undefined): void
}

const TITLE = `Expiries in the next ${STRIP_DAYS} days`

/** Shows the days on which keys expire, as buttons that filter, and what is chosen, whether it is on the strip or not. */
export function Strip({ days, now, chosen, choose }: StripProps) {
  if (days.length === 0 && chosen === undefined) return null
  return (
    <section class="strip" aria-label={TITLE}>
      {days.length > 0 && (
        <>
          <p class="muted">{TITLE}</p>
          <Marks days={days} now={now} chosen={chosen} choose={choose} />
          <ul class="hidden">
            {days.map(({ day, names }) => (
              <li key={day}>
                {dayWords(day)}: <Foreign text={names.join(', ')} />
              </li>
            ))}
          </ul>
        </>
      )}
      {chosen && (
        <p class="muted">
          Below are keys that{' '}
          {isWindowName(chosen) ? expiryWindows.get(chosen)?.words : `expire on ${dayWords(chosen)} (UTC)`}.
          <button type="button" class="quiet" onClick={() => choose(undefined)}>
            Show every day
          </button>
        </p>
      )}
    </section>
  )
}

/** Pixels. A mark is large enough for a finger if no other one is near. At the edge is room for the ring of the focus. */
const [MARK, LANE, LABELS, ROOM, EDGE] = [24, 28, 22, 44, 4]

/** One of the marks can be reached with Tab, the others with the arrow keys. If they need more room, they scroll sideways. */
function Marks({ days, now, chosen, choose }: StripProps) {
  const [box, room] = useWidth<HTMLDivElement>()
  const [last, setLast] = useState(chosen)
  const stop = days.find(({ day }) => day === last) ?? days[0]
  const width = stripWidth(days, room, { width: MARK, apart: LANE })
  const aDay = dayWidth(width, MARK)
  const lanes = lanesOf(days, LANE / (aDay || 1))
  const axis = EDGE + (Math.max(0, ...lanes) + 1) * LANE
  const x = (ahead: number) => MARK / 2 + ahead * aDay
  const top = (index: number) => axis - ((lanes[index] ?? 0) + 1) * LANE
  const press = (event: KeyboardEvent, day: string) => {
    const next = dayFrom(days, day, event.key)
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    box.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus()
  }
  return (
    <div class="marks" role="toolbar" aria-label="Days with expiries" ref={box}>
      {width > 0 && (
        // biome-ignore lint/a11y/noSvgWithoutTitle: its parts have names, and a title would cover them all.
        <svg width={width} height={axis + LABELS}>
          <line class="axis" x2={width} y1={axis} y2={axis} />
          {ticksOf(now, ROOM / aDay).map(({ ahead, words }) => (
            <g key={words}>
              <line class="axis" x1={x(ahead)} x2={x(ahead)} y1={axis} y2={axis + LABELS} />
              <text x={x(ahead) + 4} y={axis + 16}>
                {words}
              </text>
            </g>
          ))}
          {days.map(({ day, ahead }, index) => (
            <line class="stem" x1={x(ahead)} x2={x(ahead)} y1={top(index)} y2={axis} key={day} />
          ))}
          {days.map(({ day, ahead, names: { length } }, index) => (
            <foreignObject x={x(ahead) - MARK / 2} y={top(index)} width={MARK} height={MARK} key={day}>
              <button
                type="button"
                data-day={day}
                tabIndex={day === stop?.day ? 0 : -1}
                aria-pressed={day === chosen}
                aria-label={`${length} ${length === 1 ? 'key expires' : 'keys expire'} on ${dayWords(day)}`}
                onFocus={() => setLast(day)}
                onKeyDown={(event) => press(event, day)}
                onClick={() => choose(day === chosen ? undefined : day)}
              >
                {length > 99 ? '99+' : length}
              </button>
            </foreignObject>
          ))}
        </svg>
      )}
    </div>
  )
}
