import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import type { ActionProps } from './actionprops.ts'
import { dropChange } from './scopestep.ts'
import { useScopeChange } from './usescopechange.ts'

/** Drops the scopes that were added to a key. Its first click is a dry run. */
export function DropDialog(props: ActionProps) {
  const { accessKey, onClose } = props
  const done = `${accessKey.metadata.name} is no longer limited by scopes that were added.`
  const { change, checked } = useScopeChange(props, dropChange(accessKey), done)
  return (
    <Dialog title="Drop the added scopes" onClose={onClose}>
      <p>They limit the key besides its own scope. The scopes that it was made with stay.</p>
      <ChangeForm change={change} word={checked ? 'Drop them' : 'Check'} onClose={onClose} />
    </Dialog>
  )
}
