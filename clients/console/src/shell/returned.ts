/** Takes what the identity provider answers from the address. */
import { isAnswer, type Returned, takeAttempt } from '../session/attempt.ts'
import { tabStorage } from '../session/browserstorage.ts'

/**
 * Returns the answer in the address, and removes it from the address and the history: it contains a code. Must run before anything
 * else. The page of before is in the address again.
 */
export function takeReturned(): Returned | undefined {
  const { search, pathname, hash } = location
  if (search === '') return undefined
  const returned = isAnswer(search) ? { search, attempt: takeAttempt(tabStorage) } : undefined
  history.replaceState(null, '', `${pathname}${returned?.attempt?.hash ?? hash}`)
  return returned
}
