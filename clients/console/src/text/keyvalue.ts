/** Recognizes values of keys, whoever has made them, in texts that name something. */
import { hasSecret } from './secrets.ts'

/**
 * Reports whether a word may be a value that a client has supplied: it has at least 32 characters. Names of so many have some `-` or `.`, and
 * none mixes capitals and digits as random characters do, in the alphabets of Base64. A term of a filter has a colon before it.
 */
export const isValue = (word: string): boolean =>
  word.length > 31 && (!/[-.]/.test(word) || (/^[\w+/=:-]+$/.test(word) && /[A-Z].*\d|\d.*[A-Z]/.test(word)))

/** Reports whether a text may contain the value of a key, whoever has made it, or another secret. */
export const isLikeValue = (text: string): boolean => hasSecret(text) || text.split(/\s+/).some(isValue)

/** Reports whether a text of names, such as PROJECT/NAME, may contain a value. A long word, such as a resource, is none. */
export const holdsValue = (text: string): boolean =>
  hasSecret(text) || text.split(/[\s,/:]+/).some((part) => isValue(part) && !/^[a-z]+$/.test(part))

/** What a field says that has a value in place of a name. */
export const LIKE_VALUE = 'This looks like a secret value. Enter a name.'
