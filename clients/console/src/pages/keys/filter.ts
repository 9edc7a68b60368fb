/** Finds access keys by words. */
import { keyTexts } from '../../../../../lib/apis/management/v1/ownedaccesskey.texts.ts'
import { scopeWords } from '../../../../../lib/authorization/scopes/words.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { stateWords } from '../../api/keyfacts.ts'
import { visible } from '../../text/visible.ts'

/** Returns a text in lower case, with hidden characters as they are shown. */
const plain = (text: string): string => visible(text.normalize('NFKC')).toLowerCase()

/** Returns what is searched of a key: its names, owner, scope, labels, addresses and state, one a line. */
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
  ]
  return texts.map((text) => plain(text ?? '')).join('\n')
}

/** Returns a function that reports whether a searched text has every word of the filter. An empty filter matches all. */
export function matcher(filter: string): (searched: string) => boolean {
  const words = filter
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(plain)
  return (searched) => words.every((word) => searched.includes(word))
}
