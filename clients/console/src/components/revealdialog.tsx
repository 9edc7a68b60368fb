import { useState } from 'preact/hooks'
import type { Revealed } from '../session/values.ts'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Foreign } from './foreign.tsx'
import { useLeaveWarning } from './hooks/useleavewarning.ts'
import { Notice } from './notice.tsx'
import { part, usePart } from './part.tsx'

/** Few people see it. The value does not wait for it, and does without it if the network fails. */
const uses = part(async () => (await import('./keyuses.tsx')).KeyUses)

/**
 * Shows a value that the server returns only once, until the person says that it is stored. The value is in the document only
 * while it is shown.
 */
export function RevealDialog({ revealed, onStored }: { revealed: Revealed; onStored(): void }) {
  const { title, name, value, explanation, next } = revealed
  const [isShown, show] = useState(false)
  const [isTaken, setTaken] = useState(false)
  const [isWarned, setWarned] = useState(false)
  const { Loaded: Uses } = usePart(uses)
  useLeaveWarning()
  const store = () => {
    if (!isTaken && !isWarned) return setWarned(true)
    onStored()
    if (next !== undefined) location.hash = next
  }
  return (
    <Dialog title="A value that is shown once" onClose={store} isSticky isWide>
      <p>
        <strong>
          <Foreign text={title} />
        </strong>
        . {explanation}
      </p>
      <p class="secret">
        {isShown ? (
          <code class="value">{value}</code>
        ) : (
          <span class="value" aria-hidden="true">
            {'•'.repeat(24)}
          </span>
        )}
        <button
          type="button"
          class="quiet"
          aria-pressed={isShown}
          onClick={() => {
            show(!isShown)
            setTaken(true)
          }}
        >
          {isShown ? 'Hide' : 'Show'}
        </button>
        <Copy text={value} label="Copy the value" isMain onCopied={() => setTaken(true)} />
      </p>
      {Uses && <Uses name={name} />}
      {isWarned && !isTaken && (
        <Notice tone="bad" title="You have not shown or copied the value.">
          <p>It cannot be read afterwards. The key then needs a rotation, which makes a new value.</p>
        </Notice>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={store}>
          {isWarned && !isTaken ? 'Continue without the value' : 'I have stored it'}
        </button>
      </div>
    </Dialog>
  )
}
