/**
 * Names the run of a job from the claims of its ID token, such as `octo-org/shop production (run 1234567890)`, for the audit logs of
 * clusters. People who may push to a repository choose some of the values, such as names of branches, and cannot imitate another run.
 */
import { createHash } from 'node:crypto'
import { KEY_RUN } from '../access/users/identity.ts'
import { withoutCredentials } from '../engine/meta/value/credentialtext.ts'
import { toPrintable } from '../engine/meta/value/printable.ts'
import { own } from '../engine/meta/value/walk.ts'
import type { IssuerRules } from './catalogue.ts'
import { claimText } from './claims.ts'
import type { IdToken } from './idtoken.ts'

/** A value without a meaning in the text around it. */
const PLAIN = /^[\w./:@+=~#-]+$/

/** The most characters of a value and of a number: two values and a number have at most 256 with what is around them. */
const LONGEST = { value: 100, number: 40 }

/**
 * Returns the run: at most 256 printable characters. The values of the claims that the type of the issuer shows are in their order, with a
 * space between them, and the number is in brackets. A value that is long, or has a character with a meaning, is a JSON text; one that is cut
 * ends with a digest. Without
 * these claims, it is the subject.
 */
export function runOf({ claims, subject }: Pick<IdToken, 'claims' | 'subject'>, { display }: IssuerRules): string {
  const text = (claim: string) => claimText(own(claims, claim)) || undefined
  const { parts, number } = display
  const shown = parts.map(text).filter((part) => part !== undefined)
  const values = (shown.length > 0 ? shown : [subject]).map((part) => quoted(part, LONGEST.value))
  const count = number && text(number.claim)
  return [...values, ...(number && count ? [`(${number.word} ${quoted(count, LONGEST.number)})`] : [])].join(' ')
}

function quoted(value: string, longest: number): string {
  if (PLAIN.test(value) && value.length <= longest && value !== KEY_RUN) return value
  const characters = [...toPrintable(withoutCredentials(value.slice(0, 16 * longest)))]
  for (let length = Math.min(characters.length, longest); ; length--) {
    const isCut = length < characters.length
    const text = JSON.stringify(characters.slice(0, length).join('') + (isCut ? `…${digestOf(value)}` : ''))
    if (text.length <= longest) return text
  }
}

/** Returns eight characters by which cut values with one beginning differ, such as two accounts of a long namespace. */
const digestOf = (value: string): string => createHash('sha256').update(value).digest('hex').slice(0, 8)
