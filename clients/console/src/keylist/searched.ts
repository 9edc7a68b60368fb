/** Says which part of the keys was read, where there are more than the console reads. */
import type { AccessKey } from '../../../core/src/objects.ts'
import { MAX_LISTED } from '../api/lists.ts'
import { nameProblem } from '../text/names.ts'
import { visible } from '../text/visible.ts'
import type { Search } from './serversearch.ts'

/** Returns `3 of 12 keys`. `more` says that there are keys that were not read: then no number is one of all keys. */
export function countWords(shown: number, total: number, more: boolean): string {
  const keys = total === 1 ? '1 key' : `${total} keys`
  if (more) return `${shown < total ? `${shown} of the` : 'All'} ${keys} that were read`
  return shown < total ? `${shown} of ${keys}` : keys
}

/**
 * Returns the title where nothing matches. `search` is what has come of the question to the server, if there are keys that were not read.
 * `own` is the name of the key of the session, if the filter names it as the maker: without an answer nobody knows what it made.
 */
export function noMatchTitle(more: boolean, { question, answer, error }: Search = {}, own?: string): string {
  if (own !== undefined && !answer?.isKnown) {
    if (!answer && error === undefined) return `Searching the keys that ${visible(own)} made…`
    return `It is not known which keys ${visible(own)} made`
  }
  if (own !== undefined && answer?.more) {
    return `None of the first ${answer.keys.length} keys that ${visible(own)} made matches`
  }
  if (!more && own === undefined) return 'No key matches'
  if (!question || !answer?.isKnown || answer.more) return `None of the first ${MAX_LISTED} keys matches`
  if (question.kind === 'name') return `No key matches whose name begins with ${question.prefix}`
  const { owner, maker } = question
  const whose = [...(owner ? [`of ${visible(owner)}`] : []), ...(maker ? [`that ${visible(maker)} made`] : [])]
  return `No key ${whose.join(' ')} matches`
}

/** Returns the name of a key that was not read and that the filter may mean, or undefined. */
export function unreadName(filter: string, read: readonly AccessKey[]): string | undefined {
  const name = filter.trim()
  const isRead = read.some(({ metadata }) => metadata.name === name)
  return name === '' || isRead || nameProblem(name) !== undefined ? undefined : name
}
