/** Recognizes values of keys, whoever has made them, in texts that name a key. */
import { hasSecret } from './secrets.ts'

/** A value that a client has supplied has at least so many characters, and names of so many have some `-` or `.`. */
const VALUE = /(^|\s)[^\s.-]{32,}(\s|$)/

/** Reports whether a text may contain the value of a key, whoever has made it, or another secret. */
export const isLikeValue = (text: string): boolean => hasSecret(text) || VALUE.test(text)
