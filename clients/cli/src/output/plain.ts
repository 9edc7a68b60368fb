/** Makes texts of others safe to print: in a terminal, control characters could move the cursor or hide words. */

/** Control, format (invisible, direction-changing), surrogate and line separator characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Returns the text with every unprintable character as an escape such as `\u{1b}`. A line break becomes `\n`. */
export const plain = (text: string): string =>
  text.replace(UNPRINTABLE, (one) =>
    one === '\n' ? '\\n' : one === '\t' ? '\\t' : `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** Like `plain`, but keeps line breaks. */
export const plainLines = (text: string): string => text.split(/\r?\n/).map(plain).join('\n')
