/** Removes a secret from the output of a program. */
import { StringDecoder } from 'node:string_decoder'
import { REDACTED } from '../../../../lib/meta/value/credentialtext.ts'

export interface Redactor {
  push(chunk: Buffer): void
  end(): void
}

/** Writes what is pushed, without the secret. Only the end of a chunk that may begin the secret waits for the next chunk. */
export function redactor(secret: string, write: (text: string) => void): Redactor {
  const decoder = new StringDecoder('utf8')
  let held = ''
  const take = (text: string, isLast: boolean) => {
    const clean = (held + text).replaceAll(secret, REDACTED)
    const keep = isLast ? 0 : beginningAtEnd(clean, secret)
    held = clean.slice(clean.length - keep)
    if (clean.length > keep) write(clean.slice(0, clean.length - keep))
  }
  return {
    push: (chunk) => take(decoder.write(chunk), false),
    end: () => take(decoder.end(), true),
  }
}

/** Returns the length of the longest end of the text with which the secret begins. */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}
