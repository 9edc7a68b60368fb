/** Selects and orders the access keys of a list, as the options say that the server has no parameter for. */
import { lastUse, timeOf } from '../../../../core/src/keylives.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import type { Values } from '../../arguments/command.ts'
import { seconds } from '../../arguments/durations.ts'
import { split } from '../../arguments/lists.ts'
import { moment } from '../../arguments/moment.ts'
import { UsageError } from '../../io/errors.ts'

const STATES = ['active', 'disabled', 'expired', 'leaked', 'terminating', 'unused'] as const

type Order = (one: AccessKey, other: AccessKey) => number

const byTime =
  (of: (key: AccessKey) => number | undefined, absent: number): Order =>
  (one, other) =>
    (of(one) ?? absent) - (of(other) ?? absent)

/** What lists can be sorted by. Keys for which the field says nothing come last. */
const ORDERS: Readonly<Record<string, Order>> = {
  name: (one, other) => (one.metadata.name < other.metadata.name ? -1 : 1),
  owner: (one, other) => ((one.status?.owner ?? '') < (other.status?.owner ?? '') ? -1 : 1),
  created: byTime(({ metadata }) => -(timeOf(metadata.creationTimestamp) ?? 0), 0),
  'last-used': byTime(({ status }) => -(timeOf(status?.lastActivity) ?? 0), 0),
  expires: byTime(({ status }) => timeOf(status?.expirationTimestamp), Number.POSITIVE_INFINITY),
}

export const filterOptions = {
  state: {
    type: 'string',
    multiple: true,
    value: 'STATE',
    choices: STATES,
    help: `only keys in this state: ${STATES.join(', ')}`,
  },
  'expires-within': { type: 'string', value: 'DURATION', help: 'only keys that end within this time, such as 7d' },
  'unused-since': {
    type: 'string',
    value: 'TIME',
    help: 'only keys that were not used since then, such as 90d or 2026-11-22',
  },
  ending: {
    type: 'string',
    value: 'TEXT',
    help: 'only the key whose value ends so: a report or a log shows the last six characters, with which keys are found that were never rotated, too',
  },
  sort: {
    type: 'string',
    value: 'FIELD',
    choices: Object.keys(ORDERS),
    help: `sort by ${Object.keys(ORDERS).join(', ')}`,
    default: 'name',
  },
} as const

/** Returns a function that selects and sorts keys. `isFound` says that the server has found them by the end of their values. Throws a UsageError for values that no key has. */
export function keyFilter(
  values: Values<typeof filterOptions>,
  now: Date,
): (keys: readonly AccessKey[], isFound?: boolean) => AccessKey[] {
  const { 'expires-within': within, 'unused-since': unused, ending, sort } = values
  const states = values.state.length > 0 ? split(values.state, '--state') : undefined
  const last = within === undefined ? undefined : now.getTime() + seconds(within, '--expires-within') * 1000
  const since = unused === undefined ? undefined : Date.parse(moment(unused, '--unused-since', now))
  const end = ending === undefined ? undefined : endOf(ending)
  const order = ORDERS[sort ?? 'name']
  return (keys, isFound = false) =>
    keys
      .filter(({ status }) => states === undefined || states.includes(status?.phase?.toLowerCase() ?? ''))
      .filter(({ status }) => {
        const at = timeOf(status?.expirationTimestamp)
        return last === undefined || (at !== undefined && at > now.getTime() && at <= last)
      })
      .filter((key) => since === undefined || (lastUse(key) ?? 0) < since)
      .filter((key) => end === undefined || isFound || endingsOf(key).some((one) => one.endsWith(end)))
      .toSorted(order)
}

/** Returns the last characters of the values of a key, as far as they are known. */
export const endingsOf = ({ status }: AccessKey): string[] =>
  [status?.hint, ...(status?.values ?? []).map(({ hint }) => hint)].filter((hint) => hint !== undefined)

/** How many of the last characters of a value are known. */
const KNOWN = 6

/** Returns the end of a value for which the server can search: all characters that it knows. */
export const wholeEnd = (text: string | undefined): string | undefined => {
  const end = text === undefined ? '' : endOf(text)
  return end.length === KNOWN ? end : undefined
}

function endOf(text: string): string {
  const end = text.replace(/^[….*]+/, '').trim()
  if (end.length > KNOWN)
    throw new UsageError(
      `--ending takes the last ${KNOWN} characters or fewer.`,
      'To find the key of a whole value, give that on standard input: keyplane whose',
    )
  if (!/^[0-9A-Za-z]{2,}$/.test(end)) throw new UsageError('--ending must be 2 to 6 letters and digits.')
  return end
}
