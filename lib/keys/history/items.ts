/**
 * Builds and reads the history of a key: items that tell what happened to it. Each has what it tells, so that the row is not
 * asked. The newest come first in each group, and what happened is one item, however often it is written.
 *
 *     pk=history#UID sk=3#8204742399#changed#bXkgY2hhbmdl kind=changed at=1795257600 actor={user=alice accessKey=ci …} fields=[spec.ttl] expires=…
 *
 * The groups keep who causes many entries of one kind from hiding those of the others: each kind that a holder of the key can repeat
 * has its own. The creation is the first item of group 1.
 */
import type { JsonObject, JsonValue } from '../../engine/meta/types.ts'
import { isObject, own } from '../../engine/meta/value/walk.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import { expiryOf, itemHash } from '../credential/keptitems.ts'
import { isCount, isText } from '../credential/strictrecord.ts'

/** The most entries that are shown. */
export const SHOWN = 50
/** As many of each group are shown in any case, beside the creation. */
const SHARE = 7
/** A longer name is left out: a part of one could be the name of another user. */
const MAX_NAME = 256
const MAX_FIELDS = 32

export interface HistoryEntry {
  kind: string
  /** Unix seconds. */
  at: number
  /** What it tells. */
  detail: JsonObject
}

export const historyPartition = (uid: string): string => `history#${uid}`

/** Returns the text by which the newest sorts first. `at` is in unix seconds. */
const newestFirst = (at: number): string => String(9_999_999_999 - at).padStart(10, '0')

/** The groups, as their sort keys begin. */
export const GROUPS = ['1', '2', '3', '4', '5', '7'] as const
/** What whoever may change the key can repeat. */
const OTHERS = '3'
const GROUP_OF: Readonly<Record<string, string>> = {
  created: '1',
  leaked: '1',
  reused: '2',
  'source-refused': '5',
  'new-address': '4',
  'rotation-started': '7',
  'rotation-replaced': '7',
  rotated: '7',
}
const CREATED = 'created'

/**
 * Returns the item of an entry. `unique` distinguishes it from all others of its kind and key, together with `sorted`, the time by
 * which it sorts.
 */
export function historyItem(
  uid: string,
  { kind, at, detail }: HistoryEntry,
  unique: string,
  sorted = at,
): CompanionItem {
  const group = own<string>(GROUP_OF, kind) ?? OTHERS
  const time = kind === CREATED ? '0'.repeat(10) : newestFirst(sorted)
  return {
    pk: historyPartition(uid),
    sk: `${group}#${time}#${kind}#${itemHash(unique)}`,
    attributes: { ...detailOf(detail), kind, at, expires: expiryOf(at) },
  }
}

type Check = (value: unknown) => boolean
const isName = (value: unknown): value is string => isText(value) && value.length <= MAX_NAME
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.length <= MAX_FIELDS && value.every(isName)

/** What an entry may tell. Nothing else of an event is kept. */
const MEMBERS: Readonly<Record<string, Check>> = {
  fields: isTexts,
  how: isName,
  value: isCount,
  overlapSeconds: isCount,
  days: isCount,
  ip: isName,
  userAgent: isName,
  url: isText,
  cluster: isName,
}
const ACTOR = ['user', 'accessKey', 'accessKeyUid'] as const

function detailOf(detail: JsonObject): JsonObject {
  const known = Object.entries(detail).filter(([name, value]) => own<Check>(MEMBERS, name)?.(value))
  const actor = isObject(detail.actor) ? actorOf(detail.actor) : {}
  return { ...Object.fromEntries(known), ...(Object.keys(actor).length > 0 && { actor }) }
}

function actorOf(actor: Readonly<Record<string, unknown>>): JsonObject {
  const known = ACTOR.filter((name) => isName(actor[name]))
  return Object.fromEntries(known.map((name) => [name, actor[name] as JsonValue]))
}

/** Reads an item. People only read it, so what is not in its form counts as nothing. */
export function readEntry({ attributes }: Pick<CompanionItem, 'attributes'>): HistoryEntry | undefined {
  const { kind, at } = attributes
  return isName(kind) && isCount(at) ? { kind, at, detail: detailOf(attributes) } : undefined
}

/** Returns the entries that are shown, the newest first. The items are the newest of each group. */
export function shownEntries(items: readonly CompanionItem[]): HistoryEntry[] {
  const groups = GROUPS.map((group) => items.filter(({ sk }) => sk.startsWith(`${group}#`)))
  const created = items.filter(isCreation)
  const first = groups.flatMap((all) => all.filter((item) => !isCreation(item)).slice(0, SHARE))
  const rest = groups.flatMap((all) => all.filter((item) => !isCreation(item)).slice(SHARE))
  const newest = [...rest].sort((one, other) => timeOf(other) - timeOf(one))
  const shown = [...created, ...first, ...newest].slice(0, SHOWN)
  return shown
    .sort((one, other) => timeOf(other) - timeOf(one) || Number(isCreation(one)) - Number(isCreation(other)))
    .flatMap((item) => readEntry(item) ?? [])
}

const isCreation = ({ sk }: Pick<CompanionItem, 'sk'>): boolean => sk.startsWith(`1#${'0'.repeat(10)}#`)
const timeOf = ({ attributes: { at } }: CompanionItem): number => (isCount(at) ? at : 0)
