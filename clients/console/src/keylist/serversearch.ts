/**
 * Finds keys on the server, where there are more than the list reads: by the beginning of their names, by their owner, and by the key
 * that made them. Only the server can find the keys that the key of the session made, because a key's status does not name the reader's own key as its maker.
 */

import { keySelector } from '../../../core/src/keyselector.ts'
import type { AccessKey, List } from '../../../core/src/objects.ts'
import type { Api } from '../api/client.ts'
import { MAX_LISTED, PAGE } from '../api/lists.ts'
import { paths } from '../api/paths.ts'
import { ApiError } from '../api/status.ts'
import { isLikeValue } from '../text/keyvalue.ts'
import type { FilterParts, TermName } from './filter.ts'

/** What the server can search for a filter. */
export type Question = { kind: 'name'; prefix: string } | { kind: 'facts'; owner?: string; maker?: string }

/** What the server refuses in `namePrefix`, it cannot find. */
const BEGINNING = /^[a-z0-9][a-z0-9.-]{0,252}$/

/**
 * Returns the question for a filter, or undefined if the server cannot search for it: then only what was read is searched. What looks
 * like the value of a key is not sent, because a question is part of an address.
 */
export function questionOf({ words, terms }: FilterParts): Question | undefined {
  if (isLikeValue(words.join(' ')) || terms.some(({ value }) => isLikeValue(value))) return undefined
  const factOf = (term: TermName) => terms.find(({ name, value }) => name === term && value !== '')?.value
  const [owner, maker] = [factOf('owner'), factOf('maker')]
  if (owner ?? maker) return { kind: 'facts', ...(owner && { owner }), ...(maker && { maker }) }
  const prefix = words[0]?.toLowerCase() ?? ''
  return words.length === 1 && BEGINNING.test(prefix) ? { kind: 'name', prefix } : undefined
}

export interface Answer {
  keys: readonly AccessKey[]
  /** Whether more keys match than one request returns. */
  more: boolean
  /** Whether the server understands the question. */
  isKnown: boolean
}

/** Asks the server, with the key of this name. An older one, which refuses the question, has no answer. */
export async function askServer(
  { api, own }: { api: Api; own: string },
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const query = new URLSearchParams({
    limit: String(PAGE),
    ...(question.kind === 'name' ? { namePrefix: question.prefix } : { fieldSelector: keySelector(question) }),
  })
  try {
    const { items, metadata } = await api.send<List<AccessKey>>(`${paths.keys}?${query}`, { signal })
    // A server that does not know the parameter answers with any keys.
    const isAnswer = items.every((key) => answers(key, question, own))
    return { keys: isAnswer ? items : [], more: isAnswer && Boolean(metadata.continue), isKnown: isAnswer }
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) return { keys: [], more: false, isKnown: false }
    throw error
  }
}

function answers({ metadata, status }: AccessKey, question: Question, own: string): boolean {
  if (question.kind === 'name') return metadata.name.startsWith(question.prefix)
  const { owner, maker } = question
  const isMade = maker === undefined || (status?.madeWith ? status.madeWith.name === maker : maker === own)
  return isMade && (owner === undefined || status?.owner === owner)
}

/** What has come of a filter so far. */
export interface Search {
  /** Absent if the server cannot search for it. */
  question?: Question
  answer?: Answer
  error?: unknown
}

/** Says how much was searched, where there are more keys than were read. */
export function searchWords({ question, answer, error }: Search): string {
  const part = `Searched the first ${MAX_LISTED} of more keys.`
  if (error !== undefined) return `${part} The others could not be searched.`
  if (question === undefined)
    return `${part} On the server you can search for the beginning of a name, owner:NAME or maker:NAME.`
  if (answer === undefined) return `${part} Searching the others…`
  if (!answer.isKnown) return part
  const what = wordsOf(question)
  if (answer.more) return `Searched all ${what}. These are the first ${answer.keys.length} of them.`
  return `Searched all ${what}, and the other texts of the first ${MAX_LISTED} keys.`
}

function wordsOf(question: Question): string {
  if (question.kind === 'name') return `names that begin with ${question.prefix}`
  const { owner, maker } = question
  return `keys${owner === undefined ? '' : ` of ${owner}`}${maker === undefined ? '' : ` that ${maker} made`}`
}

/** Says what is not known of the keys that the key of the session made, if it is the maker that the filter names. */
export function ownWords(own: string, { answer, error }: Search): string | undefined {
  if (error !== undefined) return `The server could not be asked which keys ${own} made.`
  if (answer === undefined) return `Asking the server which keys ${own} made…`
  if (!answer.isKnown) return `This server cannot say which keys ${own} made.`
  return answer.more ? `These are among the first ${answer.keys.length} keys that ${own} made.` : undefined
}
