/** Says that no key matches, as far as the keys were read. */
import { MAX_LISTED } from '../api/lists.ts'
import { visible } from '../text/visible.ts'
import type { Search } from './serversearch.ts'

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
