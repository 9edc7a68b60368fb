/** Decodes the values of headers. */

/** Matches a text whose characters are bytes, some of them beyond ASCII. */
const BYTES = /^\p{ASCII}*[\u0080-\u00ff][\p{ASCII}\u0080-\u00ff]*$/u

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the value of a header as its client wrote it. HTTP defines no encoding beyond ASCII: clients send UTF-8, and servers show
 * each byte as a character. A text that is no UTF-8 stays as it is.
 */
export function headerText(value: string): string {
  if (!BYTES.test(value)) return value
  try {
    return decoder.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
