import type { Provider, Trust } from '../../api/trusts.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ChangeForm } from '../../components/forms/changeform.tsx'
import { DeleteDialog } from '../../components/forms/deletedialog.tsx'
import { useLockout } from '../../components/forms/uselockout.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'

export type ActionName = 'delete' | 'disable'

export interface DialogProps {
  object: Trust | Provider
  /** The path of the object. */
  path: string
  /** What it is, such as `trust`. */
  noun: string
  /** What deleting it means, beyond its keys. */
  loss: string
  /** The names of the data that shows it, in the cache of the session. */
  shownIn: readonly string[]
  refresh(): unknown
  onClose(): void
}

/** Disables, enables or deletes a trust or an identity provider. */
export function ActionDialog({ action, ...props }: DialogProps & { action: ActionName }) {
  return action === 'delete' ? <DeleteObject {...props} /> : <DisableDialog {...props} />
}

/** Reports whether clusters may ask with the keys of a trust. */
const mayReview = ({ status }: DialogProps['object']): boolean =>
  status !== undefined && 'mayReview' in status && status.mayReview === true

const ENDS = 'The keys of earlier exchanges are refused from the next request on.'

function DisableDialog({ object, path, noun, refresh, onClose }: DialogProps) {
  const { api } = useSession()
  const notify = useNotify()
  const { name, uid } = object.metadata
  const disabled = !object.spec.disabled
  const word = disabled ? 'Disable' : 'Enable'
  const call = { method: 'PATCH', body: { metadata: { uid }, spec: { disabled } } } as const
  const disabling = useChange(
    () => api.send(path, call),
    async () => {
      onClose()
      notify({ tone: 'good', text: `${name} was ${disabled ? 'disabled' : 'enabled'}.` })
      await refresh()
    },
  )
  const change = useLockout(disabling, mayReview(object) && { path, call, name })
  return (
    <Dialog title={`${word} ${name}`} onClose={onClose}>
      {disabled ? (
        <p>
          ID tokens are no longer exchanged. {ENDS} When you enable it again, those that have not expired are valid
          again.
        </p>
      ) : (
        <p>ID tokens are exchanged again. The keys of earlier exchanges that have not expired are valid again.</p>
      )}
      <ChangeForm
        change={change}
        word={`${word} the ${noun}`}
        tone={disabled ? 'danger' : 'primary'}
        onClose={onClose}
      />
    </Dialog>
  )
}

function DeleteObject({ object, loss, ...dialog }: DialogProps) {
  return (
    <DeleteDialog metadata={object.metadata} mayReview={mayReview(object)} list={hrefOf('trusts')} {...dialog}>
      <p>This cannot be undone.</p>
      <p>
        {ENDS} The garbage collector deletes them. {loss}
      </p>
    </DeleteDialog>
  )
}
