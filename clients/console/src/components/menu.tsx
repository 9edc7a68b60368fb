import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

/** A button that opens further actions below it. The browser closes them with Escape or a click elsewhere. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  return (
    <>
      <button type="button" popovertarget={id} aria-label={label} title={label}>
        ⋯
      </button>
      {/* Closed before the action runs, so that a dialog gives the focus back to the button above. */}
      <div class="menu" popover="auto" id={id} ref={list} onClickCapture={() => list.current?.hidePopover()}>
        {children}
      </div>
    </>
  )
}
