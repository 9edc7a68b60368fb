import { useState } from 'preact/hooks'
import { DialogPart, part, usePreload } from '../../components/part.tsx'
import type { ActionName, ActionsProps } from './actionprops.ts'

const dialog = part(async () => (await import('./actiondialog.tsx')).ActionDialog)

/** Shows the buttons for what can be done with the object as a whole. */
export function Actions(props: ActionsProps) {
  const [open, setOpen] = useState<{ action: ActionName; seen: ActionsProps['object'] }>()
  const { object } = props
  usePreload(dialog)
  if (object.metadata.deletionTimestamp) return null
  const choose = (action: ActionName) => () => setOpen({ action, seen: object })
  return (
    <>
      <button type="button" onClick={choose('disable')}>
        {object.spec.disabled ? 'Enable' : 'Disable'}
      </button>
      <button type="button" class="caution" onClick={choose('delete')}>
        Delete
      </button>
      {open && (
        <DialogPart
          {...props}
          dialog={dialog}
          action={open.action}
          object={open.seen}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}
