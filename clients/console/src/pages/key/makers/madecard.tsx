import { useMemo, useState } from 'preact/hooks'
import type { AccessKey, KeyHistory } from '../../../../../core/src/objects.ts'
import type { Listed } from '../../../api/lists.ts'
import { errorWords } from '../../../api/status.ts'
import { isUnknown, type Reading } from '../../../components/hooks/usereading.ts'
import { DialogPart, part, usePreload } from '../../../components/part.tsx'
import { useSession } from '../../../session/session.ts'
import type { Polled } from '../../../session/usepolled.ts'
import { hrefOf } from '../../../text/routes.ts'
import { namesakeWords, readWords } from './family.ts'
import { FamilyTree } from './familytree.tsx'

const dialog = part(async () => (await import('../../../components/revocation/revokedialog.tsx')).RevokeDialog)

export interface MadeCardProps {
  accessKey: AccessKey
  keys: Polled<Listed<AccessKey>>
  history: Reading<KeyHistory>
}

/** What made the key, what it made, and the way to revoke all of that. */
export function MadeCard({ accessKey, keys, history }: MadeCardProps) {
  const { name, uid } = accessKey.metadata
  const [isOpen, setOpen] = useState(false)
  const made = useMemo(() => ({ madeWith: { uid } }), [uid])
  usePreload(dialog)
  const { data, error, refresh } = keys
  const { madeWith } = accessKey.status ?? {}
  const items = data?.items ?? []
  const found = items.filter(({ status }) => status?.madeWith?.uid === uid).length + (history.data?.made?.length ?? 0)
  const namesakes = namesakeWords({ name, uid }, items)
  const isRead = data !== undefined || history.data !== undefined
  const more = data?.more === true
  /** A key's status does not name the session's own key as its maker. A history and a filter of the server do. */
  const isOwn = useSession().self.accessKey === name
  /** Whether the server knows of keys that the list lacks. */
  const canRead = more && history.data !== undefined && !isUnknown(history.error)
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">Family</h2>
      {data === undefined && error === undefined && <p class="hint">Loading…</p>}
      {error !== undefined && <p class="hint">The list of keys could not be read. {errorWords(error).title}</p>}
      {data && (!isOwn || history.data) && <Hint text={readWords(found, more && !canRead)} />}
      <Hint text={namesakes} />
      {isRead && (found > 0 || madeWith) && (
        <FamilyTree
          {...(madeWith && { maker: madeWith })}
          here={{ name, uid }}
          keys={items}
          canRead={canRead}
          {...(history.data && { history: history.data })}
        />
      )}
      <div class="actions">
        <button type="button" onClick={() => setOpen(true)}>
          Revoke all that it made
        </button>
        {(found > 0 || namesakes || isOwn || (more && !canRead)) && (
          <a class="button" href={hrefOf('keys', [], { filter: `maker:${name}` })}>
            List the keys that it made
          </a>
        )}
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
            history.refresh()
          }}
        />
      )}
    </section>
  )
}

const Hint = ({ text }: { text: string | undefined }) => (text === undefined ? null : <p class="hint">{text}</p>)
