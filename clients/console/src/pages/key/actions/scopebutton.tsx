import { useState } from 'preact/hooks'
import { DialogPart, part, usePreload } from '../../../components/part.tsx'
import type { ScopeDialogProps } from './scopedialog.tsx'

const scopeDialog = part(async () => (await import('./scopedialog.tsx')).ScopeDialog)
const dropDialog = part(async () => (await import('./dropdialog.tsx')).DropDialog)

export type ScopeButtonProps = Omit<ScopeDialogProps, 'onClose'> & { word: string }

/** A button that opens the dialog of the scope with what it suggests, or the one that drops what was added, for the key as it is then. */
export function ScopeButton({ word, ...props }: ScopeButtonProps) {
  const [seen, setSeen] = useState<ScopeDialogProps>()
  const onClose = () => setSeen(undefined)
  usePreload(scopeDialog, dropDialog)
  return (
    <>
      <div class="actions">
        <button type="button" onClick={() => setSeen({ ...props, onClose })}>
          {word}
        </button>
      </div>
      {seen &&
        (seen.suggested ? <DialogPart dialog={scopeDialog} {...seen} /> : <DialogPart dialog={dropDialog} {...seen} />)}
    </>
  )
}
