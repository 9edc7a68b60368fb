/** Text of request bodies. */
import { DecodeError } from './jsonscanner.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of UTF-8 bytes, a byte order mark kept as a character. Throws DecodeError: nothing is guessed or replaced. */
export function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DecodeError('invalid UTF-8')
  }
}
