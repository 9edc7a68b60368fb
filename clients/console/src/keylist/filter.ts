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
import { isCardName, needs } from './attention.ts'

/** Returns a text in lower case, with hidden characters as they are shown. */
const plain = (text: string): string => (/^[ -~]*$/.test(text) ? text : visible(text.normalize('NFKC'))).toLowerCase()

/** The texts of keys that were searched. Each letter that a person types searches them all. */
const searched = new WeakMap<AccessKey, string>()

/** Returns what is searched of a key: its names, owner, scope, labels, addresses, state and the ends of its values, one a line. */
export function searchText(key: AccessKey): string {
  const known = searched.get(key)
  if (known !== undefined) return known
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
  const made = texts.map((text) => plain(text ?? '')).join('\n')
  searched.set(key, made)
  return made
}

/** What a term demands of a key. Each is `NAME:VALUE`. */
const TERMS = {
  state: ({ status }, value) => status?.phase?.toLowerCase() === value.toLowerCase(),
  owner: ({ status }, value) => status?.owner === value,
  expires: expiresWithin,
  maker: ({ metadata, status }, value, { made }) =>
    (status?.madeWith?.name ?? (made?.uids.has(metadata.uid) && made.maker)) === value,
  trust: (key, value) => isExchanged(key) && (value === ANY || (key.metadata.labels?.[TRUST_LABEL] ?? '') === value),
  // As `keyplane clusters who`. Virtual clusters have rules of their own, which their pages know.
  reaches: (key, value) =>
    !value.includes('/') && isActive(key) && !key.status?.target && reachOf(key, value) !== undefined,
  needs: (key, value, { now }) => isCardName(value) && needs(value, key, now),
} satisfies Record<string, (key: AccessKey, value: string, known: Known) => boolean>

/** What a filter knows besides the keys. */
export interface Known {
  now: Date
  /** The keys of which the server has said who made them, because they do not. */
  made?: { maker: string; uids: ReadonlySet<string> } | undefined
}

export type TermName = keyof typeof TERMS

/** The value of `trust` for the keys of all exchanges, which only this term shows. */
export const ANY = '*'

function expiresWithin({ status }: AccessKey, value: string, { now }: Known): boolean {
  const end = timeOf(status?.expirationTimestamp)
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

export const NAMES = Object.keys(TERMS) as TermName[]
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

/** Returns the value that the filter demands of a term, if it has the term. */
export const valueIn = (filter: string, term: TermName): string | undefined =>
  partsOf(filter).terms.find(({ name }) => name === term)?.value

/** Returns the filter with this value of the term in place of any other, or without the term. */
export function withTerm(filter: string, name: TermName, value: string | undefined): string {
  const { words, terms } = partsOf(filter)
  const others = terms.filter((one) => one.name !== name)
  return [...words, ...[...others, ...(value === undefined ? [] : [{ name, value }])].map(termText)].join(' ')
}

/** Returns a function that reports whether a key has every word and every term of the filter. An empty filter matches all. */
export function matcher(filter: string, known: Known): (key: AccessKey) => boolean {
  const { words, terms } = partsOf(filter)
  // The end of a value is shown as …3jcxZS.
  const wanted = words.map((word) => plain(word).replace(/^\.{3}/, ''))
  return (key) =>
    terms.every(({ name, value }) => TERMS[name](key, value, known)) &&
    (wanted.length === 0 || hasAll(searchText(key), wanted))
}

const hasAll = (text: string, words: readonly string[]): boolean => words.every((word) => text.includes(word))
