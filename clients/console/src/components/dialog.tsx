import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

export interface DialogProps {
  title: string
  /** Called when the person closes the dialog, with Escape too. */
  onClose(): void
  /** Whether Escape leaves it open, because closing it would lose something. */
  isSticky?: boolean
  isWide?: boolean
  children: ComponentChildren
}

/** Shows a modal dialog of the browser, which keeps the focus inside and returns it afterwards. */
export function Dialog({ title, onClose, isSticky = false, isWide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : undefined}
      aria-labelledby={name}
      onKeyDown={(event) => {
        if (isSticky && event.key === 'Escape') event.preventDefault()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (!isSticky) onClose()
      }}
      onClose={(event) => {
        // Browsers close a dialog at the second request, such as the gesture to go back, whatever the page says.
        if (isSticky) event.currentTarget.showModal()
        else onClose()
      }}
    >
      <h2 id={name}>{title}</h2>
      {children}
    </dialog>
  )
}
