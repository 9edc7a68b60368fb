/** Finds access keys by words, and by terms such as `owner:alice` that name one fact exactly. */

import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { keyTexts } from '../../../../lib/keys/ownedaccesskey.texts.ts'
import { isExchanged } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { stateWords } from '../api/keyfacts.ts'
import { TRUST_LABEL } from '../api/trusts.ts'
import { visible } from '../text/visible.ts'

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

/** What a term names, and the fact of a key that must be equal. */
const FACTS: Readonly<Record<TermName, (row: Searched) => string | undefined>> = {
  owner: ({ key }) => key.status?.owner,
  maker: ({ key, maker }) => key.status?.madeWith?.name ?? maker,
  state: ({ key }) => key.status?.phase?.toLowerCase(),
  trust: ({ key }) => (isExchanged(key) ? (key.metadata.labels?.[TRUST_LABEL] ?? '') : undefined),
}

export type TermName = 'owner' | 'maker' | 'state' | 'trust'

export interface Term {
  name: TermName
  value: string
}

/** Returns a term as people write it: `owner:alice`, or `owner:"Alice B."` for a value that is not one word. */
export const termText = ({ name, value }: Term): string =>
  `${name}:${/^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`

const PART = /(?:^|(?<=\s))(owner|maker|state|trust):("(?:[^"\\]|\\.)*"|[^\s"]\S*)(?=\s|$)|\S+/g

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

/** Returns the keys that a filter names as the maker. */
export const makersIn = (filter: string): string[] =>
  partsOf(filter).terms.flatMap(({ name, value }) => (name === 'maker' ? [value] : []))

export interface Searched {
  key: AccessKey
  /** The `searchText` of the key. */
  searched: string
  /** The name of the key that made it, if the server has said so and the key does not. */
  maker?: string
}

/** Returns a function that reports whether a key has every word and every term of the filter. An empty filter matches all. */
export function matcher(filter: string): (row: Searched) => boolean {
  const { words, terms } = partsOf(filter)
  // The end of a value is shown as …3jcxZS.
  const wanted = words.map((word) => plain(word).replace(/^\.{3}/, ''))
  return (row) =>
    wanted.every((word) => row.searched.includes(word)) && terms.every(({ name, value }) => FACTS[name](row) === value)
}
