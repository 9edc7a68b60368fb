import { useState } from 'preact/hooks'
import { DISABLED_REASON } from '../../../../../../lib/keys/ownedaccesskey.texts.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { ChangeForm } from '../../../components/forms/changeform.tsx'
import { ReasonField } from '../../../components/forms/reasonfield.tsx'
import { useLockout } from '../../../components/forms/uselockout.tsx'
import { useChange } from '../../../components/hooks/usechange.ts'
import { OwnKey } from '../../../components/ownkey.tsx'
import { useSession } from '../../../session/session.ts'
import type { ActionProps } from './actionprops.ts'
import { patchKey, reviewerPatch } from './patchkey.ts'

/** Disables the key, or enables it again. */
export function DisableDialog({ accessKey, refresh, onClose }: ActionProps) {
  const { api } = useSession()
  const { name, uid, resourceVersion } = accessKey.metadata
  const disabled = !accessKey.spec.disabled
  const word = disabled ? 'Disable' : 'Enable'
  const [reason, setReason] = useState('')
  // What was said of an earlier time is gone.
  const annotations = { [DISABLED_REASON]: reason || null }
  const patch = { metadata: { uid, resourceVersion, annotations }, spec: { disabled } }
  const disabling = useChange(
    (wasLost) => patchKey(api, name, patch, wasLost),
    async () => {
      onClose()
      await refresh()
    },
  )
  const change = useLockout(disabling, reviewerPatch(accessKey, patch))
  return (
    <Dialog title={`${word} ${name}`} onClose={onClose} isTyped={reason !== ''}>
      {disabled ? (
        <p>
          The next request with this key gets a 401. Its watches end within 15 seconds, and tokens made with it within
          30. You can enable the key again. Keys that it made keep working.
        </p>
      ) : (
        <p>
          Requests with this key work again, with each value that has not ended. Tokens from before stay refused:
          request new ones.
        </p>
      )}
      {disabled && <OwnKey name={name} text="The console signs you out. To enable it again, you need another key." />}
      <ChangeForm change={change} word={`${word} the key`} tone={disabled ? 'danger' : 'primary'} onClose={onClose}>
        {disabled && <ReasonField value={reason} onInput={setReason} />}
      </ChangeForm>
    </Dialog>
  )
}
