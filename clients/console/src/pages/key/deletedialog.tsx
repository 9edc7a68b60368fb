import { useRef, useState } from 'preact/hooks'
import type { AccessKey } from '../../api/objects.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'
import type { ActionProps } from './actionprops.ts'
import { isUncertain } from './rotation/rotationcall.ts'

/** Deletes the key once its name was typed: exactly this key, and only as the person has seen it. */
export function DeleteDialog({ accessKey, refresh, onClose }: ActionProps) {
  const { api, self, cache } = useSession()
  const notify = useNotify()
  const input = useRef<HTMLInputElement>(null)
  const wasLost = useRef(false)
  const [wrong, setWrong] = useState<string>()
  const { name, uid, resourceVersion } = accessKey.metadata
  const isOwn = name === self.accessKey

  /** Returns what is left of the key, if something holds its deletion up. */
  const remove = async (): Promise<Partial<AccessKey> | undefined> => {
    try {
      const preconditions = { uid, resourceVersion }
      return await api.send<Partial<AccessKey>>(paths.key(name), { method: 'DELETE', body: { preconditions } })
    } catch (error) {
      // The answer to an earlier attempt was lost.
      if (wasLost.current && error instanceof ApiError && error.code === 404) return undefined
      wasLost.current ||= isUncertain(error)
      throw error
    }
  }
  const { isBusy, error, run } = useChange(remove, async (left) => {
    onClose()
    if (left?.metadata?.deletionTimestamp !== undefined && left.metadata.uid === uid) {
      notify({ tone: 'warn', text: `${name} does not work any more. Its finalizers hold up its deletion.` })
      return refresh()
    }
    notify({ tone: 'good', text: `${name} was deleted.` })
    cache.delete('keys')
    cache.delete(`key/${name}`)
    // The answer may come when the person is on another page.
    if (location.hash === hrefOf('keys', [name])) location.hash = hrefOf('keys')
  })
  return (
    <Dialog title={`Delete ${name}`} onClose={onClose}>
      <p>This cannot be undone.</p>
      <ul class="bullets">
        <li>Every request with this key gets a 401 from the next one on.</li>
        <li>
          Tokens and kube configs made with it end within 30 seconds. Client certificates are valid until they expire.
        </li>
        <li>Keys that it made work on. They still know that they come from it.</li>
      </ul>
      {isOwn && (
        <Notice tone="warn" title="You are signed in with this key">
          <p>The console signs you out.</p>
        </Notice>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (input.current?.value === name) {
            setWrong(undefined)
            void run()
          } else {
            setWrong('This is not the name of the key.')
            input.current?.focus()
          }
        }}
      >
        <Field label={`Type ${name} to delete it`} error={wrong}>
          {(attributes) => (
            <input {...attributes} ref={input} autoComplete="off" autoCapitalize="off" spellcheck={false} />
          )}
        </Field>
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={isBusy}>
            {isBusy ? 'Deleting…' : 'Delete the key'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
