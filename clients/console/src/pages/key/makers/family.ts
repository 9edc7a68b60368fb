/** Lays out the family of a key as the rows of a tree: what made it, the key itself, and what it made, level by level. */
import type { AccessKey, KeyHistory, MadeKey } from '../../../../../core/src/objects.ts'
import { MAX_LISTED } from '../../../api/lists.ts'
import { relative } from '../../../text/times.ts'

/** What is known of the keys that a key made, besides those of the list. */
export type Branch = Pick<KeyHistory, 'made' | 'truncated'> | 'reading' | 'failed'

export interface Family {
  maker?: { name?: string; uid: string }
  here: { name: string; uid: string }
  /** The keys that the list has. */
  keys: readonly AccessKey[]
  /** Whether the keys of a branch can be read: the list may lack some, and the server keeps them. */
  canRead: boolean
  /** By the uid of the maker. */
  read: ReadonlyMap<string, Branch>
  /** The uids of the keys whose branches are open. */
  open: ReadonlySet<string>
}

export interface FamilyRow {
  uid: string
  /** Absent for a maker whose name is not known. */
  name?: string
  /** From 1. */
  level: number
  isHere: boolean
  /** Set if another key has the name now. */
  isOther?: true
  /** Absent for a key that made none. */
  isOpen?: boolean
  /** What else is known of the key. */
  words: string
}

/** More would make the page slow. */
const MOST = 100

export function familyRows(family: Family, now: Date): FamilyRow[] {
  const { maker, here, read, open, canRead } = family
  const listed = new Map<string, AccessKey[]>()
  for (const key of family.keys) {
    const by = key.status?.madeWith?.uid
    if (by !== undefined) listed.set(by, [...(listed.get(by) ?? []), key])
  }
  const madeBy = (uid: string): MadeKey[] => {
    const branch = read.get(uid)
    const known = typeof branch === 'object' ? (branch.made ?? []) : []
    const all = [...(listed.get(uid) ?? []).map(madeKey), ...known]
    return [...new Map(all.map((one) => [one.uid, one])).values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  // A key is above itself only in a broken answer.
  const rowsOf = (key: MadeKey, level: number, above: readonly string[], own: string): FamilyRow[] => {
    const { uid, name } = key
    const made = above.includes(uid) ? [] : madeBy(uid)
    const branch = read.get(uid)
    const mayHave = made.length > 0 || (canRead && (branch === undefined || typeof branch === 'string'))
    const isOpen = open.has(uid) && branch !== 'failed'
    const row = {
      uid,
      name,
      level,
      isHere: uid === here.uid,
      ...(mayHave && { isOpen }),
      words: [own, branchWords(branch, made.length, isOpen)].filter(Boolean).join(' · '),
    }
    if (!isOpen) return [row]
    return [row, ...made.slice(0, MOST).flatMap((one) => rowsOf(one, level + 1, [...above, uid], factWords(one, now)))]
  }
  const isOther = family.keys.some(({ metadata }) => metadata.name === maker?.name && metadata.uid !== maker?.uid)
  const words = isOther ? 'made this key · another key has its name now' : 'made this key'
  const first = maker ? [{ ...maker, level: 1, isHere: false, ...(isOther && { isOther }), words }] : []
  return [...first, ...rowsOf(here, first.length + 1, maker ? [maker.uid] : [], 'this key')]
}

const madeKey = ({ metadata: { name, uid, creationTimestamp }, status }: AccessKey): MadeKey => ({
  name,
  uid,
  made: creationTimestamp,
  ...(status?.phase !== undefined && { phase: status.phase }),
})

function factWords({ made, phase }: MadeKey, now: Date): string {
  const time = new Date(made ?? '')
  return [phase, Number.isNaN(time.getTime()) ? '' : `made ${relative(time, now, 'past')}`].filter(Boolean).join(' · ')
}

function branchWords(branch: Branch | undefined, made: number, isOpen: boolean): string {
  if (branch === 'reading') return 'reading what it made…'
  if (branch === 'failed') return 'what it made could not be read'
  if (branch !== undefined && made === 0) return 'made no key that you see'
  if (isOpen && (made > MOST || branch?.truncated)) return `made more keys than the ${Math.min(made, MOST)} below`
  return ''
}

/** What a key of the keyboard does in a tree. */
export type Move = { to: number } | { toggle: true } | undefined

/** Returns what a key does at a row, as trees of the ARIA Authoring Practices do. */
export function moveIn(rows: readonly FamilyRow[], at: number, key: string): Move {
  const { level = 0, isOpen } = rows[at] ?? {}
  const to = (index: number): Move => (rows[index] ? { to: index } : undefined)
  switch (key) {
    case 'ArrowDown':
      return to(at + 1)
    case 'ArrowUp':
      return to(at - 1)
    case 'Home':
      return to(0)
    case 'End':
      return to(rows.length - 1)
    case 'ArrowRight':
      if (isOpen === false) return { toggle: true }
      return (rows[at + 1]?.level ?? 0) > level ? to(at + 1) : undefined
    case 'ArrowLeft':
      if (isOpen) return { toggle: true }
      return to(rows.findLastIndex((row, index) => index < at && row.level < level))
    default:
      return undefined
  }
}

/** Returns what the tree does not say: that there is none, or that not all keys were read. */
export function readWords(found: number, more: boolean): string | undefined {
  if (!more) return found === 0 ? 'You see no key that was made with this one.' : undefined
  const part = `the first ${MAX_LISTED} keys that you may see`
  const words = found === 0 ? `None of ${part} was made with this one.` : `These are among ${part}.`
  return `${words} There are more: the dry run of “Revoke all that it made” counts all of them.`
}

/** Returns what is to be said if another key had the name of this one and made keys. */
export function namesakeWords({ name, uid }: Family['here'], keys: readonly AccessKey[]): string | undefined {
  const made = keys.filter(({ status }) => status?.madeWith?.name === name && status.madeWith.uid !== uid).length
  if (made === 0) return undefined
  const were = made === 1 ? '1 key was' : `${made} keys were`
  return `${were} made with an earlier key of this name. “Revoke all that it made” leaves them: list them to revoke them.`
}
