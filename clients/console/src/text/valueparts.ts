/** Recognizes values of keys in texts that have parts. */
import { isLong, isMixed, isValue } from './keyvalue.ts'
import { hasSecret } from './secrets.ts'

/**
 * Reports whether a text with parts may contain a value or another secret: a path, PROJECT/NAME, an address or a term of a filter. A part
 * that is a long word, such as a resource, is none.
 */
export const hasLikeValue = (text: string): boolean =>
  hasSecret(text) ||
  text.split(/[\s:]+/).some((word) => isLong(word) && isMixed(word)) ||
  text.split(/[\s/:]+/).some((part) => isValue(part) && !/^[a-z]+$/.test(part))
