import type { AccessKey } from '../../../../../core/src/objects.ts'
import type { Listed } from '../../../api/lists.ts'
import { errorWords } from '../../../api/status.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useDraftDialog } from '../../../session/usedraft.ts'
import type { Polled } from '../../../session/usepolled.ts'
import { hrefOf } from '../../../text/routes.ts'
import { countOf, type Descendant, descendantsOf, readWords } from './descendants.ts'
import { revocationName } from './revocation.ts'
import { RevokeDialog } from './revokedialog.tsx'

/** What the key made, and the way to revoke all of it. */
export function MadeCard({ accessKey, keys }: { accessKey: AccessKey; keys: Polled<Listed<AccessKey>> }) {
  const { name, uid } = accessKey.metadata
  const [isOpen, setOpen] = useDraftDialog(revocationName(uid))
  const { data, error, refresh } = keys
  const tree = data ? descendantsOf(uid, data.items) : []
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">What it made</h2>
      {data === undefined && error === undefined && <p class="hint">Loading…</p>}
      {error !== undefined && <p class="hint">The list of keys could not be read. {errorWords(error).title}</p>}
      {data && <Hint text={readWords(tree.length, data.more)} />}
      {tree.length > 0 && <Tree tree={tree} />}
      <div class="actions">
        <button type="button" onClick={() => setOpen(true)}>
          Revoke all that it made
        </button>
      </div>
      {isOpen && (
        <RevokeDialog
          name={name}
          uid={uid}
          onClose={() => {
            setOpen(false)
            void refresh()
          }}
        />
      )}
    </section>
  )
}

const Hint = ({ text }: { text: string | undefined }) => (text === undefined ? null : <p class="hint">{text}</p>)

/** More would make the page slow. */
const MOST = 100

function Tree({ tree }: { tree: readonly Descendant[] }) {
  return (
    <ul class="tree">
      {tree.slice(0, MOST).map(({ key: { metadata, status, spec }, made }) => (
        <li key={metadata.uid}>
          <a href={hrefOf('keys', [metadata.name])}>
            <Foreign text={metadata.name} />
          </a>{' '}
          <span class="muted">
            <Foreign text={[status?.owner, spec.displayName, status?.phase].filter(Boolean).join(' · ')} />
          </span>
          {made.length > 0 && <Tree tree={made} />}
        </li>
      ))}
      {tree.length > MOST && <li class="muted">and {countOf(tree.slice(MOST))} more</li>}
    </ul>
  )
}
