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

/** Writes unprintable characters of a JSON text as escapes of JSON, which changes no value. */
export const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, (one) => (one === '\n' ? one : one.split('').map(unitEscape).join('')))

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
