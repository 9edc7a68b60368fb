/** Makes texts of others safe to show: invisible characters and changes of direction could make one name look like another. */

/**
 * Control, format (invisible, direction-changing), surrogate, private and line separator characters; others that are drawn as nothing,
 * such as fillers and variation selectors, except the one that makes a sign an emoji; and the empty Braille pattern.
 */
const HIDDEN =
  /(?!(?<=\p{Extended_Pictographic})\uFE0F)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** A character that a terminal may act on, or that is not seen: in commands and files it is an escape. */
export const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u

/** Returns the text with each hidden character as an escape such as `\u{202e}`, and with line breaks as `\n`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, (one) => (one === '\n' ? '\\n' : `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`))
