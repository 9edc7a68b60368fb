import type { ActionProps } from './actionprops.ts'
import { DeleteDialog } from './deletedialog.tsx'
import { DisableDialog } from './disabledialog.tsx'
import { EditDialog } from './editdialog.tsx'

const DIALOGS = { edit: EditDialog, disable: DisableDialog, delete: DeleteDialog } as const

export type ActionName = keyof typeof DIALOGS

/** Shows the dialog of an action on a key. */
export function ActionDialog({ action, ...props }: ActionProps & { action: ActionName }) {
  const Chosen = DIALOGS[action]
  return <Chosen {...props} />
}
