/**
 * Finds and redacts credentials and tokens in text. Users paste credentials into names, labels and descriptions, which every reader of the
 * object can see.
 */
import { PROGRAM_GROUP } from '../program.ts'
import { KEY_PREFIX, keysIn } from './credentialformat.ts'

/** Replaces secrets in messages, logs and responses. */
export const REDACTED = '<redacted>'

/** Reports whether the text contains a credential or a token of this service. */
export const holdsCredential = (text: string): boolean => holdsKey(text) || holdsToken(text)

const holdsKey = (text: string): boolean => !keysIn(text).next().done

/** The claim that every token of this service contains. */
const OWN_CLAIM = `"${PROGRAM_GROUP}"`
/** The beginning of the header of a JSON Web Token. */
const TOKEN = 'eyJ'
/** Matches a run of the characters that a token can contain. */
const RUN = /[\w.-]+/g

function holdsToken(text: string): boolean {
  if (!text.includes(TOKEN)) return false
  for (const [run] of text.matchAll(RUN)) {
    const parts = run.split('.')
    const claims = parts.filter((_, index) => index > 0 && parts[index - 1]?.includes(TOKEN))
    if (claims.some((one) => Buffer.from(one, 'base64url').includes(OWN_CLAIM))) return true
  }
  return false
}

/** Matches credentials, also truncated ones and several in a row. */
const LIKE_A_KEY = /mpk_\w{16,}/g
const SHORTEST_HEADER = 11

/** Replaces everything that resembles a credential or any issuer's JSON Web Token with `<redacted>`. */
export function withoutCredentials(text: string): string {
  const keyless = text.includes(KEY_PREFIX) ? text.replace(LIKE_A_KEY, REDACTED) : text
  return keyless.includes(TOKEN) ? keyless.replace(RUN, withoutToken) : keyless
}

/** Redacts a run from the beginning of the first token to its end. */
function withoutToken(run: string): string {
  let at = 0
  for (const part of run.split('.')) {
    const begins = part.indexOf(TOKEN)
    const ends = at + part.length
    if (begins >= 0 && part.length - begins >= SHORTEST_HEADER && /[\w-]/.test(run[ends + 1] ?? '')) {
      return run.slice(0, at + begins) + REDACTED
    }
    at = ends + 1
  }
  return run
}
