import { useEffect, useState } from 'preact/hooks'
import { DialogPart, part } from '../../components/part.tsx'
import type { PaletteProps } from './palette.tsx'

const palette = part(async () => (await import('./palette.tsx')).Palette)

/** Opens the palette, also with Ctrl-K or Cmd-K. */
export function PaletteButton({ pages }: Pick<PaletteProps, 'pages'>) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isShortcut(event) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        title="Ctrl-K or Cmd-K"
        onClick={() => setOpen(true)}
      >
        Go to
      </button>
      {isOpen && <DialogPart dialog={palette} pages={pages} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Ctrl-K belongs to fields for texts, where it deletes the rest of the line on some systems. Cmd-K does nothing there. */
function isShortcut({ key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented, target }: KeyboardEvent): boolean {
  if (key.toLowerCase() !== 'k' || altKey || shiftKey || defaultPrevented || ctrlKey === metaKey) return false
  return metaKey || !(target instanceof Element && target.matches('input, textarea'))
}
