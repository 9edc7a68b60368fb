import { useEffect, useState } from 'preact/hooks'
import type { Revealed } from '../session/revealed.ts'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'

/** Shows a value that the server returns only once, until the person says that it is stored. */
export function RevealDialog({ revealed, onStored }: { revealed: Revealed; onStored(): void }) {
  const { title, value, explanation } = revealed
  const [isShown, show] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <Dialog title={title} onClose={onStored} isSticky isWide>
      <p>{explanation}</p>
      <p class="secret">
        <output>{isShown ? value : '•'.repeat(32)}</output>
        <button type="button" class="quiet" aria-pressed={isShown} onClick={() => show(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </button>
        <Copy text={value} />
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={onStored}>
          I have stored it
        </button>
      </div>
    </Dialog>
  )
}
