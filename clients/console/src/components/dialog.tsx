import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Notice } from './notice.tsx'

export interface DialogProps {
  title: string
  /** Called when the person closes the dialog, with Escape too. */
  onClose(): void
  /** Whether Escape leaves it open, because closing it would lose something. */
  isSticky?: boolean
  /** Whether the person has typed something that closing it discards. Then Escape asks first. */
  isTyped?: boolean
  isWide?: boolean
  children: ComponentChildren
}

/** Shows a modal dialog of the browser, which keeps the focus inside and returns it afterwards. */
export function Dialog({ title, onClose, isSticky = false, isTyped = false, isWide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const name = useId()
  const [isAsked, ask] = useState(false)
  // An effect after the next frame would leave a moment in which keys still go to the page below. Closing gives the focus back.
  useLayoutEffect(() => {
    const own = dialog.current
    own?.showModal()
    return () => own?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : undefined}
      aria-labelledby={name}
      onInput={() => ask(false)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !(isSticky || isTyped)) return
        event.preventDefault()
        ask(true)
      }}
      onCancel={(event) => {
        event.preventDefault()
        ask(true)
        if (!isSticky && !isTyped) onClose()
      }}
      onClose={(event) => {
        if (!event.currentTarget.isConnected) return
        // Browsers close a dialog at the second request, such as the gesture to go back, whatever the page says.
        if (isSticky || isTyped) event.currentTarget.showModal()
        else onClose()
      }}
    >
      <h2 id={name}>{title}</h2>
      {children}
      {isAsked && isTyped && !isSticky && (
        <div class="asked">
          <Notice tone="warn" title="What you have typed is not sent.">
            <button type="button" onClick={onClose}>
              Discard it
            </button>
          </Notice>
        </div>
      )}
    </dialog>
  )
}
