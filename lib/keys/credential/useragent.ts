/** Shortens the User-Agent header of a client, to be stored and shown to people. */
import { headerText } from '../../engine/meta/encoding/headertext.ts'
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'
import { toPrintable } from '../../engine/meta/value/printable.ts'

const MAX_LENGTH = 64
/** More than the headers of a request can have. */
const MAX_READ = 16 * 1024

/** Returns the beginning of the text, without control characters and what looks like a credential. */
export function shortUserAgent(text: string): string {
  // Remove control characters first: they could divide a credential. Cut last: a part of one is not recognised.
  const readable = withoutCredentials(
    headerText(text)
      .slice(0, MAX_READ)
      .replace(/\p{Cc}/gu, ''),
  )
  return [...toPrintable(readable)].slice(0, MAX_LENGTH).join('')
}
