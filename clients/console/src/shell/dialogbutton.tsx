import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useShortcut } from '../components/hooks/useshortcut.ts'
import { DialogPart, type Part } from '../components/part.tsx'
import { type ShortcutName, shortcuts } from '../text/shortcuts.ts'

interface DialogButtonProps<P> {
  shortcut: ShortcutName & ('help' | 'palette')
  dialog: Part<P>
  /** What the dialog gets besides `onClose`. */
  props: Omit<P, 'onClose'>
  label?: string
  title?: string
  children: ComponentChildren
}

/** Opens a dialog, also with a shortcut. */
export function DialogButton<P extends { onClose(): void }>(button: DialogButtonProps<P>) {
  const { shortcut, dialog, props, label, title, children } = button
  const [isOpen, setOpen] = useState(false)
  useShortcut(shortcut, () => setOpen(true))
  const whole = { ...props, onClose: () => setOpen(false) } as P
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={label}
        aria-haspopup="dialog"
        aria-keyshortcuts={shortcuts[shortcut].aria}
        title={title}
        onClick={() => setOpen(true)}
      >
        {children}
      </button>
      {isOpen && <DialogPart dialog={dialog} {...whole} />}
    </>
  )
}
