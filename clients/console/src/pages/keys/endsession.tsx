import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { paths } from '../../api/paths.ts'
import { errorWords } from '../../api/status.ts'
import { useDeletion } from '../../components/hooks/usedeletion.ts'

/** Ends the key of a command with one click: it cannot be used again anyway, and somebody may be in a hurry. */
export function EndSession({ accessKey: { metadata } }: { accessKey: AccessKey }) {
  const [isGone, setGone] = useState(false)
  const { isBusy, error, run } = useDeletion({
    path: paths.key(metadata.name),
    metadata,
    shownIn: [],
    // The person stays in the list, which is read again soon.
    list: location.hash,
    refresh: () => {},
    onClose: () => setGone(true),
  })
  if (isGone) return <span class="muted">ended</span>
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`End ${metadata.name}`}
        disabled={isBusy}
        onClick={() => void run()}
      >
        End
      </button>
      {error !== undefined && <span class="hint">{errorWords(error).title}</span>}
    </>
  )
}
