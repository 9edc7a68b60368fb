import { useState } from 'preact/hooks'
import { useShortcut } from '../../components/hooks/useshortcut.ts'
import { DialogPart, part } from '../../components/part.tsx'
import { shortcuts } from '../../text/shortcuts.ts'
import type { PaletteProps } from './palette.tsx'

const palette = part(async () => (await import('./palette.tsx')).Palette)

/** Opens the palette, also with Ctrl-K or Cmd-K. */
export function PaletteButton({ pages }: Pick<PaletteProps, 'pages'>) {
  const [isOpen, setOpen] = useState(false)
  useShortcut('palette', () => setOpen(true))
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-haspopup="dialog"
        aria-keyshortcuts={shortcuts.palette.aria}
        title={shortcuts.palette.keys}
        onClick={() => setOpen(true)}
      >
        Go to
      </button>
      {isOpen && <DialogPart dialog={palette} pages={pages} onClose={() => setOpen(false)} />}
    </>
  )
}
