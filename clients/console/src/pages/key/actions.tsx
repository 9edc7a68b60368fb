import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { DialogPart, part, usePreload } from '../../components/part.tsx'
import { hrefOf } from '../../text/routes.ts'
import type { ActionName } from './actions/actiondialog.tsx'
import type { ActionProps } from './actions/actionprops.ts'

const dialog = part(async () => (await import('./actions/actiondialog.tsx')).ActionDialog)
const scopeDialog = part(async () => (await import('./actions/scopedialog.tsx')).ScopeDialog)

/** What can be done with the key as a whole. */
export function Actions({ accessKey, refresh, onRotate }: Omit<ActionProps, 'onClose'> & { onRotate(): void }) {
  const { metadata, spec } = accessKey
  const [open, setOpen] = useState<{ action: ActionName | 'scope'; seen: AccessKey }>()
  usePreload(dialog)
  usePreload(scopeDialog)
  const choose = (action: ActionName | 'scope') => () => setOpen({ action, seen: accessKey })
  const close = () => setOpen(undefined)
  return (
    <>
      <button type="button" class="primary" onClick={onRotate}>
        Rotate
      </button>
      <button type="button" onClick={choose('edit')}>
        Edit
      </button>
      <button type="button" onClick={choose('scope')}>
        Edit scope
      </button>
      <a class="button" href={hrefOf('may-it', [], { key: metadata.name })}>
        Check access
      </a>
      <a class="button" href={hrefOf('new-key', [], { like: metadata.name })}>
        Duplicate
      </a>
      <a class="button" href={hrefOf('whose')}>
        Report a leak
      </a>
      <button type="button" onClick={choose('disable')}>
        {spec.disabled ? 'Enable' : 'Disable'}
      </button>
      <button type="button" class="caution" onClick={choose('delete')}>
        Delete
      </button>
      {open?.action === 'scope' ? (
        <DialogPart dialog={scopeDialog} accessKey={open.seen} refresh={refresh} onClose={close} />
      ) : (
        open && (
          <DialogPart dialog={dialog} action={open.action} accessKey={open.seen} refresh={refresh} onClose={close} />
        )
      )}
    </>
  )
}
