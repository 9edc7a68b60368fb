import { useState } from 'preact/hooks'
import { DialogPart, part, usePreload } from '../../components/part.tsx'
import { MOST_NAMES, selectionOf } from '../../components/revocation/selection.ts'
import type { Selection } from './selecting.tsx'

const dialog = part(async () => (await import('../../components/revocation/revokedialog.tsx')).RevokeDialog)

/** Says how many keys are selected, and revokes them. */
export function SelectedBar({ selection, refresh }: { selection: Selection; refresh(): Promise<void> }) {
  const { selected, shown, select } = selection
  const [open, setOpen] = useState<{ title: string; keys: ReturnType<typeof selectionOf> }>()
  usePreload(dialog)
  const clear = () => select(selected, false)
  const words = selected.length === 1 ? '1 key' : `${selected.length} keys`
  return (
    <>
      {selected.length > 0 && (
        <section class="selected" aria-label="Selected keys">
          <p role="status">{words} selected</p>
          <button
            type="button"
            class="danger"
            disabled={selected.length > MOST_NAMES}
            onClick={() => setOpen({ title: `Revoke ${words}`, keys: selectionOf(selected) })}
          >
            Disable or delete
          </button>
          {selected.length < shown.length && (
            <button type="button" class="quiet" onClick={() => select(shown, true)}>
              Select all {shown.length}
            </button>
          )}
          <button type="button" class="quiet" onClick={clear}>
            Select none
          </button>
          {selected.length > MOST_NAMES && <p class="hint">At most {MOST_NAMES} keys can be revoked at once.</p>}
        </section>
      )}
      {open && (
        <DialogPart
          dialog={dialog}
          title={open.title}
          about="The keys that you have selected."
          keys={open.keys}
          onClose={(isDone) => {
            setOpen(undefined)
            if (isDone) clear()
            void refresh()
          }}
        />
      )}
    </>
  )
}
