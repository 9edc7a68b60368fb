import { LATE } from '../../../../../core/src/historywords.ts'
import type { KeyHistory } from '../../../../../core/src/objects.ts'
import { Foreign } from '../../../components/foreign.tsx'
import type { Reading } from '../../../components/hooks/usereading.ts'
import { Time } from '../../../components/time.tsx'
import { ReadCard } from '../usage/readcard.tsx'
import { eventWords, type Shape } from './eventwords.ts'

/** Shows what happened to the key, the newest first. */
export const HistoryCard = ({ reading }: { reading: Reading<KeyHistory> }) => (
  <ReadCard title="History" reading={reading}>
    {({ since, events = [] }) => (
      <>
        <p class="hint">
          {since === undefined ? (
            'It is not known yet how far back the history goes.'
          ) : (
            <>
              The newest events. Kept since <Time at={since} direction="past" isDated />.
            </>
          )}{' '}
          {LATE}
        </p>
        {events.length === 0 && <p>Nothing is recorded.</p>}
        <ol class="timeline">
          {events.map((event, index) => {
            const { shape, title, detail } = eventWords(event)
            return (
              <li key={`${event.time} ${event.type} ${index}`}>
                <Icon shape={shape} />
                <div>
                  <Foreign text={title} /> <Time at={event.time} direction="past" isDated />
                  {detail !== '' && (
                    <span class="muted block">
                      <Foreign text={detail} />
                    </span>
                  )}
                </div>
              </li>
            )
          })}
        </ol>
      </>
    )}
  </ReadCard>
)

const PATHS: Readonly<Record<Shape, string>> = {
  new: 'M8 3v10M3 8h10',
  edit: 'M3 13l1-3.5L10.5 3l2.5 2.5L6.5 12z',
  use: 'M8 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5',
  value: 'M13 8a5 5 0 1 1-1.5-3.5M12 2v3H9',
  time: 'M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10M8 5.5V8l2 1.5',
  end: 'M4 4l8 8M12 4l-8 8',
  alarm: 'M8 2.5L14 13.5H2zM8 6.5v3M8 11.5v.3',
}

/** The words beside it say the same. */
const Icon = ({ shape }: { shape: Shape }) => (
  <svg class={`mark ${shape}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[shape]} />
  </svg>
)
