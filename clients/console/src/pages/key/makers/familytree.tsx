import { useRef, useState } from 'preact/hooks'
import type { KeyHistory } from '../../../../../core/src/objects.ts'
import { paths } from '../../../api/paths.ts'
import { Foreign } from '../../../components/foreign.tsx'
import { useNow } from '../../../components/hooks/usenow.ts'
import { useSession } from '../../../session/session.ts'
import { hrefOf } from '../../../text/routes.ts'
import { type Branch, type Family, type FamilyRow, familyRows, moveIn } from './family.ts'

/** `history` is that of the key itself, if the server has one. */
export type FamilyTreeProps = Omit<Family, 'read' | 'open'> & { history?: KeyHistory }

/** Shows the family of a key as a tree. One of its rows can be reached with Tab, the others with the arrow keys. */
export function FamilyTree({ history, ...family }: FamilyTreeProps) {
  const { api } = useSession()
  const now = useNow()
  const tree = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set([family.here.uid]))
  const [branches, setBranches] = useState<ReadonlyMap<string, Branch>>(new Map())
  const [chosen, choose] = useState(family.here.uid)
  const read = history ? new Map(branches).set(family.here.uid, history) : branches
  const rows = familyRows({ ...family, read, open }, now)
  const active = rows.some(({ uid }) => uid === chosen) ? chosen : family.here.uid

  const readBranch = async (name: string, uid: string) => {
    const set = (branch: Branch) => setBranches((before) => new Map(before).set(uid, branch))
    set('reading')
    try {
      const { metadata, status } = await api.send<{ metadata: { uid: string }; status?: KeyHistory }>(
        paths.history(name),
      )
      // Another key may have the name by now.
      set(metadata.uid === uid ? (status ?? {}) : 'failed')
    } catch {
      set('failed')
    }
  }
  const toggle = ({ uid, name, isOpen }: FamilyRow) => {
    setOpen((before) => new Set(isOpen ? [...before].filter((one) => one !== uid) : [...before, uid]))
    const branch = read.get(uid)
    if (!isOpen && family.canRead && name !== undefined && (!branch || branch === 'failed')) void readBranch(name, uid)
  }
  const press = (event: KeyboardEvent, at: number) => {
    const [row, move] = [rows[at], moveIn(rows, at, event.key)]
    if (!row || !move || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if ('toggle' in move) return toggle(row)
    choose(rows[move.to]?.uid ?? chosen)
    tree.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[move.to]?.focus()
  }
  return (
    <div class="family" role="tree" aria-label="Family of the key" ref={tree}>
      {rows.map((row, at) => (
        <a
          role="treeitem"
          key={row.uid}
          {...(row.name !== undefined && !row.isOther && { href: hrefOf('keys', [row.name]) })}
          aria-level={row.level}
          aria-expanded={row.isOpen}
          aria-current={row.isHere ? 'page' : undefined}
          aria-selected={row.uid === active}
          tabIndex={row.uid === active ? 0 : -1}
          onFocus={() => choose(row.uid)}
          onKeyDown={(event) => press(event, at)}
        >
          <Twist row={row} onToggle={() => toggle(row)} />
          <span>
            <Foreign text={row.name ?? row.uid} />
            {row.words !== '' && <span class="muted"> {row.words}</span>}
          </span>
        </a>
      ))}
    </div>
  )
}

/** Opens and closes a branch with the mouse. The keys of the row do the same. */
function Twist({ row: { isOpen }, onToggle }: { row: FamilyRow; onToggle(): void }) {
  if (isOpen === undefined) return <span class="twist" aria-hidden="true" />
  return (
    <span
      class="twist"
      aria-hidden="true"
      onClick={(event) => {
        event.preventDefault()
        onToggle()
      }}
    >
      {isOpen ? '▾' : '▸'}
    </span>
  )
}
