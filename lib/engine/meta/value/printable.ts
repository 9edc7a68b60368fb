/** Recognizes and replaces characters that a text for people, or for a page, must not have. */

/** Control, format (invisible, direction-changing), surrogate and line separator characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) === -1

/** Replaces each unprintable character with U+FFFD. */
export const toPrintable = (text: string): string => text.replace(UNPRINTABLE, '\u{FFFD}')

/** Escapes the characters that have a meaning in the text of HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
