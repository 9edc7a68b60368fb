/** Finds access keys by words, and by terms such as `owner:alice` or `reaches:eu`. */

import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { DAY_MS } from '../../../../lib/engine/meta/value/durations.ts'
import { keyTexts } from '../../../../lib/keys/ownedaccesskey.texts.ts'
import { isExchanged, timeOf } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { reachOf } from '../../../core/src/reaches.ts'
import { isActive, stateWords } from '../api/keyfacts.ts'
import { TRUST_LABEL } from '../api/trusts.ts'
import { visible } from '../text/visible.ts'
import { cards, isCardName, needs } from './attention.ts'

/** Returns a text in lower case, with hidden characters as they are shown. */
const plain = (text: string): string => visible(text.normalize('NFKC')).toLowerCase()

/** Returns what is searched of a key: its names, owner, scope, labels, addresses, state and the ends of its values, one a line. */
export function searchText(key: AccessKey): string {
  const { metadata, spec, status } = key
  const texts = [
    metadata.name,
    ...keyTexts.map(({ name }) => spec[name]),
    status?.owner,
    scopeWords(spec.scope),
    ...Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(status?.lastSources ?? []).map(({ ip }) => ip),
    ...stateWords(key),
    status?.hint,
    ...(status?.values ?? []).map(({ hint }) => hint),
  ]
  return texts.map((text) => plain(text ?? '')).join('\n')
}

/** What a term demands of a key. Each is `NAME:VALUE`. */
const TERMS = {
  state: ({ key }, value) => key.status?.phase?.toLowerCase() === value.toLowerCase(),
  owner: ({ key }, value) => key.status?.owner === value,
  expires: expiresWithin,
  maker: ({ key, maker }, value) => (key.status?.madeWith?.name ?? maker) === value,
  trust: ({ key }, value) =>
    isExchanged(key) && (value === ANY || (key.metadata.labels?.[TRUST_LABEL] ?? '') === value),
  // As `keyplane clusters who`.
  reaches: ({ key }, value) => isActive(key) && !key.status?.target && reachOf(key, value) !== undefined,
  needs: ({ key }, value, now) => isCardName(value) && needs(value, key, now),
} satisfies Record<string, (row: Searched, value: string, now: Date) => boolean>

export type TermName = keyof typeof TERMS

/** The value of `trust` for the keys of all exchanges, which only this term shows. */
export const ANY = '*'

function expiresWithin({ key }: Searched, value: string, now: Date): boolean {
  const end = timeOf(key.status?.expirationTimestamp)
  const days = /^(\d{1,4})d$/.exec(value)?.[1]
  if (end === undefined || days === undefined) return end === undefined && value === NEVER
  return end > now.getTime() && end - now.getTime() <= Number(days) * DAY_MS
}

const NEVER = 'never'

/** The values of terms that have few. */
export const VALUES: Partial<Record<TermName, readonly string[]>> = {
  state: ['active', 'leaked', 'disabled', 'expired'],
  expires: ['7d', '30d', '90d', NEVER],
}

export interface Term {
  name: TermName
  value: string
}

/** Returns a term as people write it: `owner:alice`, or `owner:"Alice B."` for a value that is not one word. */
export const termText = ({ name, value }: Term): string =>
  `${name}:${/^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`

const NAMES = Object.keys(TERMS) as TermName[]
const PART = new RegExp(`(?:^|(?<=\\s))(${NAMES.join('|')}):("(?:[^"\\\\]|\\\\.)*"|[^\\s"]\\S*)(?=\\s|$)|\\S+`, 'g')

export interface FilterParts {
  words: string[]
  terms: Term[]
}

/** Returns the words and the terms of a filter. */
export function partsOf(filter: string): FilterParts {
  const { words, terms }: FilterParts = { words: [], terms: [] }
  for (const [part, name, text = ''] of filter.matchAll(PART)) {
    const value = text.startsWith('"') ? unquoted(text) : text
    if (name !== undefined && value !== undefined) terms.push({ name: name as TermName, value })
    else words.push(part)
  }
  return { words, terms }
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface Searched {
  key: AccessKey
  /** The `searchText` of the key. */
  searched: string
  /** The name of the key that made it, if the server has said so and the key does not. */
  maker?: string
}

/** Returns the value that the filter demands of a term, if it has the term. */
export const valueIn = (filter: string, term: TermName): string | undefined =>
  partsOf(filter).terms.find(({ name }) => name === term)?.value

/** Returns the filter with this value of the term in place of any other, or without the term. */
export function withTerm(filter: string, name: TermName, value: string | undefined): string {
  const { words, terms } = partsOf(filter)
  const others = terms.filter((one) => one.name !== name)
  return [...words, ...[...others, ...(value === undefined ? [] : [{ name, value }])].map(termText)].join(' ')
}

/** Says what in a filter is no term, although it looks like one, or no value of its term. */
export function unknownWords(filter: string): string | undefined {
  const { words, terms } = partsOf(filter)
  const [name] = words.flatMap((word) => /^([a-z]+):/i.exec(word)?.[1] ?? [])
  if (name) return `There is no ${name}:. Known are ${NAMES.map((one) => `${one}:`).join(', ')}.`
  const known: typeof VALUES = { ...VALUES, needs: [...cards.keys()] }
  const wrong = terms.find((one) => known[one.name]?.includes(one.value.toLowerCase()) === false)
  if (!wrong || /^\d+d$/.test(wrong.value)) return undefined
  return `${wrong.name}: knows ${known[wrong.name]?.join(', ')}.`
}

/** Returns a function that reports whether a key has every word and every term of the filter. An empty filter matches all. */
export function matcher(filter: string, now: Date): (row: Searched) => boolean {
  const { words, terms } = partsOf(filter)
  // The end of a value is shown as …3jcxZS.
  const wanted = words.map((word) => plain(word).replace(/^\.{3}/, ''))
  return (row) =>
    wanted.every((word) => row.searched.includes(word)) &&
    terms.every(({ name, value }) => TERMS[name](row, value, now))
}
