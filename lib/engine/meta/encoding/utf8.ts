/** Decodes UTF-8 request bodies. */
import { DecodeError } from './jsonscanner.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8 and keeps a byte order mark. Throws DecodeError for invalid bytes instead of replacing them. */
export function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DecodeError('invalid UTF-8')
  }
}
