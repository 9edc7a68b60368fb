import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { useDraftDialog } from '../../session/usedraft.ts'
import { hrefOf } from '../../text/routes.ts'
import type { ActionProps } from './actionprops.ts'
import { DeleteDialog } from './deletedialog.tsx'
import { DisableDialog } from './disabledialog.tsx'
import { editName } from './edit.ts'
import { EditDialog } from './editdialog.tsx'

const DIALOGS = { edit: EditDialog, disable: DisableDialog, delete: DeleteDialog } as const

/** What can be done with the key as a whole. */
export function Actions({ accessKey, refresh }: Omit<ActionProps, 'onClose'>) {
  const { metadata, spec } = accessKey
  const [isEdited] = useDraftDialog(editName(metadata.uid))
  const [open, setOpen] = useState<{ dialog: keyof typeof DIALOGS; seen: AccessKey } | undefined>(
    isEdited ? { dialog: 'edit', seen: accessKey } : undefined,
  )
  const Chosen = open && DIALOGS[open.dialog]
  const choose = (dialog: keyof typeof DIALOGS) => () => setOpen({ dialog, seen: accessKey })
  return (
    <>
      <a class="button" href={hrefOf('may-it', [], { key: metadata.name })}>
        Check access
      </a>
      <button type="button" onClick={choose('edit')}>
        Edit
      </button>
      <button type="button" onClick={choose('disable')}>
        {spec.disabled ? 'Enable' : 'Disable'}
      </button>
      <button type="button" class="danger" onClick={choose('delete')}>
        Delete
      </button>
      {Chosen && <Chosen accessKey={open.seen} refresh={refresh} onClose={() => setOpen(undefined)} />}
    </>
  )
}
