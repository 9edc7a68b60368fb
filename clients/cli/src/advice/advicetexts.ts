/** Says in words what a key does not need. */
import { diffLines } from '../../../core/src/scopechange.ts'
import { entriesOf } from '../../../core/src/usage.ts'
import type { UsedKey } from '../api/usage.ts'
import { plain } from '../output/plain.ts'

const counted = (count: number, noun: string): string => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`)

/** Returns the advice about a key, as a page. */
export function adviceText({ key, usage }: Pick<UsedKey, 'key' | 'usage'>): string {
  const { advice = {}, findings = [], since } = usage
  const { unknowns = [] } = advice
  const name = key.metadata.name
  const withholding = unknowns.filter(({ withholds }) => withholds)
  const others = unknowns.filter(({ withholds }) => !withholds)
  return [
    [headline({ key, usage }), ...(since === undefined ? [] : [`Its usage is recorded since ${since}.`])],
    ...(advice.scope ? [diffLines(advice).map((line) => `  ${line}`)] : []),
    section('Why', withholding),
    section('What is not known', others),
    section('Other improvements', findings),
    advice.scope ? [`To set this scope: keyplane advise ${name} --apply`] : [],
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${plain(line)}\n`).join(''))
    .join('\n')
}

function headline({ key, usage }: Pick<UsedKey, 'key' | 'usage'>): string {
  const { advice = {}, recording } = usage
  const name = key.metadata.name
  if (advice.scope && key.spec?.scope === undefined) {
    return `${name} has no scope. ${counted(entriesOf(advice.scope).length, 'line')} would allow all that it did.`
  }
  if (advice.scope) return `${name} does not need ${unneeded({ key, usage }, ' of its scope')}.`
  if (recording === false)
    return `This deployment does not record usage, so there is no advice about the scope of ${name}.`
  if (advice.unknowns?.some(({ withholds }) => withholds)) return `No smaller scope is advised for ${name}.`
  return `${name} needs its whole scope, as far as the record shows.`
}

/** Returns `2 of 5 lines`, and how many smaller ones take their place. */
function unneeded({ key, usage: { advice = {} } }: Pick<UsedKey, 'key' | 'usage'>, of = ''): string {
  const { removed = [], added = [] } = advice
  const all = entriesOf(key.spec?.scope).length
  return `${removed.length} of ${counted(all, 'line')}${of}${added.length > 0 ? ` (${added.length} smaller instead)` : ''}`
}

const section = (title: string, messages: readonly { message: string }[]): string[] =>
  messages.length === 0 ? [] : [`${title}:`, ...messages.map(({ message }) => `  ${message}`)]

/** Orders keys by how much they do not need, first those that no scope limits. */
export const compareUnneeded = (one: UsedKey, other: UsedKey): number =>
  weightOf(other) - weightOf(one) ||
  (other.usage.findings?.length ?? 0) - (one.usage.findings?.length ?? 0) ||
  (one.key.metadata.name < other.key.metadata.name ? -1 : 1)

function weightOf({ key, usage: { advice = {} } }: UsedKey): number {
  if (advice.scope === undefined) return -1
  return key.spec?.scope === undefined ? Number.MAX_SAFE_INTEGER : (advice.removed?.length ?? 0)
}

export const UNNEEDED_COLUMNS = ['NAME', 'NOT NEEDED', 'FINDINGS']

/** Returns the row of a key below `UNNEEDED_COLUMNS`. */
export function unneededRow(used: UsedKey): string[] {
  const { key, usage } = used
  const { advice = {}, findings = [] } = usage
  const withheld = (advice.unknowns ?? []).filter(({ withholds }) => withholds).map(({ reason }) => words(reason))
  const notNeeded =
    advice.scope !== undefined
      ? key.spec?.scope === undefined
        ? `everything but ${counted(entriesOf(advice.scope).length, 'line')}`
        : unneeded(used)
      : withheld.length > 0
        ? `no advice: ${withheld.join(', ')}`
        : 'nothing'
  return [key.metadata.name, notNeeded, findings.map(({ type }) => words(type)).join(', ')]
}

/** Returns `never expires` for `NeverExpires`. */
const words = (word: string): string => word.replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
