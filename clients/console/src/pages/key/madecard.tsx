import { useMemo, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { errorWords } from '../../api/status.ts'
import { DialogPart, part, usePreload } from '../../components/part.tsx'
import { askServer } from '../../keylist/serversearch.ts'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf } from '../../text/routes.ts'
import { madeWords, namesakeWords } from './made.ts'

const dialog = part(async () => (await import('../../components/revocation/revokedialog.tsx')).RevokeDialog)

const EVERY_MS = 60_000

/** Links to the list of the keys that the key made, and revokes them and what those made. */
export function MadeCard({ accessKey }: { accessKey: AccessKey }) {
  const { name, uid } = accessKey.metadata
  const [isOpen, setOpen] = useState(false)
  const made = useMemo(() => ({ madeWith: { uid } }), [uid])
  usePreload(dialog)
  const { data, error, refresh } = usePolled(
    `made/${name}`,
    ({ api, self }, signal) => askServer({ api, own: self.accessKey }, { kind: 'facts', maker: name }, signal),
    EVERY_MS,
  )
  const words = data && madeWords(data)
  const namesakes = data && namesakeWords(uid, data.keys)
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">Made with this key</h2>
      {data === undefined && error === undefined && <p class="hint">Loading…</p>}
      {error !== undefined && <p class="hint">The keys that it made could not be read. {errorWords(error).title}</p>}
      {words !== undefined && (
        <p>
          <a href={hrefOf('keys', [], { filter: `maker:${name}` })}>{words}</a>
        </p>
      )}
      {data && words === undefined && <p class="hint">You see no key that was made with this one.</p>}
      {namesakes && <p class="hint">{namesakes}</p>}
      <div class="actions">
        <button type="button" onClick={() => setOpen(true)}>
          Revoke all that it made
        </button>
      </div>
      {isOpen && (
        <DialogPart
          dialog={dialog}
          title={`Revoke all that ${name} made`}
          about={`The keys that it made, and what those made. ${name} itself stays as it is.`}
          keys={made}
          onClose={() => {
            setOpen(false)
            void refresh()
          }}
        />
      )}
    </section>
  )
}
