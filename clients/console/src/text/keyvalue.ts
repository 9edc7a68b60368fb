/** Recognizes values of keys, whoever has made them, in texts that name something. */
import { hasSecret } from './secrets.ts'

/** A value that a client has supplied has at least so many characters. */
const SHORTEST = 32

export const isLong = (word: string): boolean => word.length >= SHORTEST

/** No names mix capitals and digits as random characters do, in the alphabets of Base64. */
export const isMixed = (word: string): boolean =>
  /^[\w+=-][\w+/=-]*$/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)

/** Reports whether a word may be a value that a client has supplied. Names of so many characters have some `-` or `.`. */
export const isValue = (word: string): boolean => isLong(word) && (!/[-.]/.test(word) || isMixed(word))

/** What a field says that has one. */
export const LIKE_VALUE = 'This looks like a secret value. Enter a name.'

/** Reports whether a text may contain the value of a key, whoever has made it, or another secret. */
export const isLikeValue = (text: string): boolean => hasSecret(text) || text.split(/\s+/).some(isValue)
