import { type Direction, exact, relative, stamp } from '../text/times.ts'
import { useNow } from './hooks/usenow.ts'

export interface TimeProps {
  at: string
  /** If the clock of the server is ahead, a past time shows `just now`. */
  direction: Direction
  /** Shows the date, too, or the time if it is today. */
  isDated?: true
  /** Further lines for the hover. */
  more?: readonly string[]
}

/** Shows a time in relation to now, and the exact one on hover. */
export function Time({ at, direction, isDated, more = [] }: TimeProps) {
  const now = useNow()
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return <span>unknown</span>
  return (
    <time dateTime={at} title={[exact(time), ...more].join('\n')}>
      {relative(time, now, direction)}
      {isDated && ` (${stamp(time, now)})`}
    </time>
  )
}

/** Says in the middle of a sentence when something was or will be, if that is known. */
export const When = ({
  words,
  at,
  direction = 'past',
}: {
  words?: string
  at?: string | undefined
  direction?: Direction
}) =>
  at ? (
    <>
      , {words} <Time at={at} direction={direction} isDated />
    </>
  ) : null
