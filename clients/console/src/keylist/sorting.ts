/** Sorts access keys by a column. */
import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { timeOf } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { openRotation } from '../api/keyfacts.ts'
import { each, type Steps, sorting } from './slices.ts'

interface Column {
  title: string
  /** The words for both directions, up and down. */
  directions: readonly [string, string]
  /** Whether the first choice of the column is downwards. */
  startsDown?: boolean
  value(key: AccessKey): string | number
}

const TEXT = ['A to Z', 'Z to A'] as const
/** Keys without a time sort as if it were before all others, or after them. */
const [BEFORE, AFTER] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
const PHASES = ['Active', 'Leaked', 'Disabled', 'Unused', 'Expired', 'Terminating']
const ROTATIONS = ['Pending', 'Retiring', undefined] as const

const TABLE = {
  name: { title: 'Name', directions: TEXT, value: ({ metadata }) => metadata.name },
  owner: { title: 'Owner', directions: TEXT, value: ({ status }) => status?.owner ?? '' },
  scope: { title: 'May do', directions: TEXT, value: ({ spec }) => scopeWords(spec.scope) },
  used: {
    title: 'Last used',
    directions: ['longest ago first', 'latest first'],
    startsDown: true,
    value: ({ status }) => timeOf(status?.lastActivity) ?? BEFORE,
  },
  made: {
    title: 'Created',
    directions: ['oldest first', 'newest first'],
    startsDown: true,
    value: ({ metadata }) => timeOf(metadata.creationTimestamp) ?? BEFORE,
  },
  expires: {
    title: 'Expires',
    directions: ['soonest first', 'latest first'],
    value: ({ status }) => timeOf(status?.expirationTimestamp) ?? AFTER,
  },
  state: {
    title: 'State',
    directions: ['active first', 'active last'],
    value: stateRank,
  },
} satisfies Record<string, Column>

export type ColumnName = keyof typeof TABLE

export const columns: ReadonlyMap<ColumnName, Column> = new Map(Object.entries(TABLE) as [ColumnName, Column][])

export interface Sort {
  column: ColumnName
  isDown: boolean
}

/** Stays the same while keys are used. */
export const DEFAULT_SORT: Sort = { column: 'name', isDown: false }

/** Returns the sort after a choice of a column: its first direction, or the other one if it is chosen already. */
export const chosen = (column: ColumnName, now: Sort): Sort => ({
  column,
  isDown: now.column === column ? !now.isDown : columns.get(column)?.startsDown === true,
})

/** Writes a sort as `name`, or `-name` for downwards. */
export const sortText = ({ column, isDown }: Sort): string => (isDown ? `-${column}` : column)

/** Reads a sort. Any other text is the default. */
export function sortOf(text: string | null): Sort {
  const [, down, column = ''] = /^(-?)(.*)$/.exec(text ?? '') ?? []
  return columns.has(column as ColumnName) ? { column: column as ColumnName, isDown: down === '-' } : DEFAULT_SORT
}

/** Returns a text for the order of people: numbers in it count as numbers, and neither case nor accents come first. */
const natural = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replace(/0*(\d+)/g, (_, digits: string) => String.fromCharCode(47 + digits.length) + digits)

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

/** Of keys in one phase, those with an open rotation are first. A phase that the console does not know is the last. */
function stateRank(key: AccessKey): number {
  const phase = PHASES.indexOf(key.status?.phase ?? '')
  return (phase < 0 ? PHASES.length : phase) * ROTATIONS.length + ROTATIONS.indexOf(openRotation(key))
}

/** Returns the keys in the order of the column. Those with equal values are in the order of their names. */
export function* sorted(keys: readonly AccessKey[], { column, isDown }: Sort): Steps<AccessKey[]> {
  const value = columns.get(column)?.value ?? (() => 0)
  const sign = isDown ? -1 : 1
  const valued: { key: AccessKey; at: string | number; name: string }[] = []
  yield* each(keys, (key) => {
    const at = value(key)
    valued.push({ key, at: typeof at === 'string' ? natural(at) : at, name: natural(key.metadata.name) })
  })
  const order = yield* sorting(
    valued,
    (a, b) =>
      sign * compare(a.at, b.at) || compare(a.name, b.name) || compare(a.key.metadata.name, b.key.metadata.name),
  )
  return order.map(({ key }) => key)
}
