import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../core/src/objects.ts'
import { paths } from '../api/paths.ts'
import { errorWords } from '../api/status.ts'
import { useDeletion } from './hooks/usedeletion.ts'

export interface EndSessionProps {
  accessKey: AccessKey
  /** The address of the page that follows. By default the person stays on the page, whose list is read again soon. */
  list?: string
}

/** Ends the key of a command with one click: it cannot be used again anyway, and somebody may be in a hurry. */
export function EndSession({ accessKey: { metadata }, list = location.hash }: EndSessionProps) {
  const [isGone, setGone] = useState(false)
  const { name } = metadata
  const { isBusy, error, run } = useDeletion({
    path: paths.key(name),
    metadata,
    shownIn: [],
    list,
    refresh: () => {},
    onClose: () => setGone(true),
  })
  if (isGone) return <span class="muted">ended</span>
  return (
    <>
      <button type="button" class="quiet" aria-label={`End ${name}`} disabled={isBusy} onClick={() => void run()}>
        End
      </button>
      {error !== undefined && <span class="hint">{errorWords(error).title}</span>}
    </>
  )
}
