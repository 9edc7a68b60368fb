import { actorWords, eventDetails, eventWords, LATE } from '../../../../core/src/historywords.ts'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Time } from '../../components/time.tsx'
import type { Query } from '../../session/usequery.ts'
import { ReadCard } from './usage/readcard.tsx'

/** Shows what happened to the key as acts, such as `scope narrowed by admin`, the newest first. */
export const HistoryCard = ({ accessKey, reading }: { accessKey: AccessKey; reading: Query<KeyHistory> }) => (
  <ReadCard title="History" reading={reading}>
    {({ since, events = [] }) => (
      <>
        <ol class="timeline">
          {events.map((event, index) => {
            const actor = actorWords(event)
            const words = eventWords(event, accessKey)
            const details = eventDetails(event, accessKey).join(', ')
            return (
              <li key={`${event.time} ${event.type} ${index}`}>
                <span>
                  <Foreign text={actor ? `${words} by ${actor}` : words} />
                  {details !== '' && <Foreign text={details} class="muted block" />}
                </span>
                <Time at={event.time} direction="past" isDated />
              </li>
            )
          })}
        </ol>
        <p class="hint">
          {events.length === 0 && 'Nothing is recorded. '}
          {since === undefined ? (
            'It is not known yet how far back the history goes.'
          ) : (
            <>
              Kept since <Time at={since} direction="past" isDated />.
            </>
          )}{' '}
          {LATE}
        </p>
      </>
    )}
  </ReadCard>
)
