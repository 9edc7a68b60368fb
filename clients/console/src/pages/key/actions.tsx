import { useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { isActive } from '../../api/keyfacts.ts'
import { Menu } from '../../components/menu.tsx'
import { DialogPart, InPlace, part, usePreload } from '../../components/part.tsx'
import { hrefOf } from '../../text/routes.ts'
import type { KeyProps } from './actions/actionprops.ts'

const dialogs = {
  edit: part(async () => (await import('./actions/editdialog.tsx')).EditDialog),
  scope: part(async () => (await import('./actions/scopedialog.tsx')).ScopeDialog),
  disable: part(async () => (await import('./actions/disabledialog.tsx')).DisableDialog),
  delete: part(async () => (await import('./actions/deletedialog.tsx')).DeleteKey),
}
const revokeDialog = part(async () => (await import('../../components/revocation/revokedialog.tsx')).RevokeDialog)
const endSession = part(async () => (await import('../../components/endsession.tsx')).EndSession)

type Action = keyof typeof dialogs | 'made'

/** What can be done with the key as a whole. The key of a command ends, and has no other value. */
export function Actions({ accessKey, refresh, onRotate }: KeyProps & { onRotate(): void }) {
  const { metadata, spec, status } = accessKey
  const { name, uid } = metadata
  const [open, setOpen] = useState<{ action: Action; seen: AccessKey }>()
  usePreload(...Object.values(dialogs), revokeDialog)
  const close = () => setOpen(undefined)
  const button = (action: Action, word: string) => (
    <button
      type="button"
      class={action === 'delete' ? 'caution' : undefined}
      onClick={() => setOpen({ action, seen: accessKey })}
    >
      {word}
    </button>
  )
  return (
    <>
      {!isSession(accessKey) ? (
        <button type="button" class="primary" onClick={onRotate}>
          Rotate
        </button>
      ) : (
        isActive(accessKey) && (
          <InPlace of={endSession} what="How to end it" accessKey={accessKey} list={hrefOf('keys')} />
        )
      )}
      {button('edit', 'Edit')}
      <Menu label="More actions">
        {button('scope', 'Edit scope')}
        <a class="button" href={hrefOf('may-it', [], { key: name })}>
          Check access
        </a>
        <a class="button" href={hrefOf('new-key', [], { like: name })}>
          Duplicate
        </a>
        <a class="button" href={hrefOf('whose')}>
          Report a leak
        </a>
        {status?.phase !== 'Unused' && button('disable', spec.disabled ? 'Enable' : 'Disable')}
        <a class="button" href={hrefOf('keys', [], { filter: `maker:${name}` })}>
          List all that it made
        </a>
        {button('made', 'Revoke all that it made')}
        {button('delete', 'Delete')}
      </Menu>
      {open?.action === 'made' && (
        <DialogPart
          dialog={revokeDialog}
          title={`Revoke all that ${name} made`}
          about={`The keys that it made, and what those made. ${name} itself stays as it is. What an earlier key of this name made stays, too: list it to revoke it.`}
          keys={{ madeWith: { uid } }}
          onClose={close}
        />
      )}
      {open && open.action !== 'made' && (
        <DialogPart dialog={dialogs[open.action]} accessKey={open.seen} refresh={refresh} onClose={close} />
      )}
    </>
  )
}
