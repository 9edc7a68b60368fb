import { useEffect, useState } from 'preact/hooks'
import { exact, relative } from '../text/times.ts'

const EVERY_MS = 30_000

/** Shows a time in relation to now, and the exact one on hover. */
export function Time({ at }: { at: string }) {
  const [now, tick] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => tick(new Date()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return <span>unknown</span>
  return (
    <time dateTime={at} title={exact(time)}>
      {relative(time, now)}
    </time>
  )
}
