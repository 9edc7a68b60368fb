/** Quotes values of clients in the descriptions of errors. */
import { withoutCredentials } from '../../meta/value/credentialtext.ts'

/** Maximum length of a quoted value in characters. */
const LONGEST_VALUE = 128

/**
 * Returns a value of the client in single quotes. An attacker may choose it, such as the name of a branch, and it appears in
 * the log of a CI job. So every character with a meaning to a shell or a CI system is percent-encoded.
 */
export function quoteValue(value: string): string {
  const short = [...withoutCredentials(value.slice(0, 16 * LONGEST_VALUE))].slice(0, LONGEST_VALUE).join('')
  const safe = short
    .toWellFormed()
    .replace(/[^\w .,:/@+=<>{}*~-]/gu, (one) =>
      [...Buffer.from(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    )
  return `'${safe}${short.length < value.length ? '...' : ''}'`
}

/** Returns the name of a claim, in quotes if it has unusual characters. The owner of a trust chooses the name. */
export const quoteName = (claim: string): string => (/^[\w./:-]+$/.test(claim) ? claim : quoteValue(claim))
