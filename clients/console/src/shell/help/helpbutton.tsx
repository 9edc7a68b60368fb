import { useState } from 'preact/hooks'
import { useShortcut } from '../../components/hooks/useshortcut.ts'
import { DialogPart, part } from '../../components/part.tsx'
import { shortcuts } from '../../text/shortcuts.ts'

const help = part(async () => (await import('./help.tsx')).Help)

/** Opens the help, also with `?`. */
export function HelpButton() {
  const [isOpen, setOpen] = useState(false)
  useShortcut('help', () => setOpen(true))
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label="Help"
        aria-haspopup="dialog"
        aria-keyshortcuts={shortcuts.help.keys}
        onClick={() => setOpen(true)}
      >
        ?
      </button>
      {isOpen && <DialogPart dialog={help} onClose={() => setOpen(false)} />}
    </>
  )
}
