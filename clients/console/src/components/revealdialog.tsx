import { useState } from 'preact/hooks'
import { server } from '../api/root.ts'
import type { Revealed } from '../session/revealed.ts'
import { option } from '../text/kubectl.ts'
import { Code } from './code.tsx'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Foreign } from './foreign.tsx'
import { useLeaveWarning } from './hooks/useleavewarning.ts'
import { Notice } from './notice.tsx'

/**
 * Shows a value that the server returns only once, until the person says that it is stored. The value is in the document only
 * while it is shown.
 */
export function RevealDialog({ revealed, onStored }: { revealed: Revealed; onStored(): void }) {
  const { title, name, value, explanation, isToken = false, next } = revealed
  const [isShown, show] = useState(false)
  const [isTaken, setTaken] = useState(false)
  const [isWarned, setWarned] = useState(false)
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
      {!isToken && (
        <div class="uses">
          <h3>Where it belongs</h3>
          <p>Each of these programs asks for the value, so it stays out of commands and the shell history:</p>
          <Code title="Secret of a GitHub repository" text="gh secret set KEYPLANE_KEY" />
          <Code title="Command line" text={`keyplane login ${option('--context', name)} ${server}`} />
        </div>
      )}
      {isWarned && !isTaken && (
        <Notice tone="bad" title="You have not shown or copied the value.">
          <p>
            It cannot be read afterwards.{' '}
            {isToken ? 'Then make another token.' : 'The key then needs a rotation, which makes a new value.'}
          </p>
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
