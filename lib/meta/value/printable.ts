/** Recognizes and replaces characters that a text for people must not have. */

/** Control, format (invisible, direction-changing), surrogate and line separator characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) === -1

/** Replaces each unprintable character with U+FFFD. */
export const toPrintable = (text: string): string => text.replace(UNPRINTABLE, '\u{FFFD}')
