/** Makes texts of others safe to show: invisible characters and changes of direction could make one name look like another. */

/** Control, format (invisible, direction-changing), surrogate, private and line separator characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Returns the text with each hidden character as an escape such as `\u{202e}`, and with line breaks as `\n`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (one) => (one === '\n' ? '\\n' : `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`))
