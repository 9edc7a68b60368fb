import { exact, relative } from '../text/times.ts'
import { useNow } from './hooks/usenow.ts'

export interface TimeProps {
  at: string
  /** Whether it has happened. If the clock of the server is ahead, it then shows `just now`. */
  isPast?: boolean
}

/** Shows a time in relation to now, and the exact one on hover. */
export function Time({ at, isPast = false }: TimeProps) {
  const now = useNow()
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return <span>unknown</span>
  return (
    <time dateTime={at} title={exact(time)}>
      {relative(isPast && time > now ? now : time, now)}
    </time>
  )
}
