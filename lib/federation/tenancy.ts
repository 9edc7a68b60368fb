/** Decides about verified tokens by the rules of their issuer: their tenant, their event and the text that shows their job. */
import type { JsonObject } from '../meta/types.ts'
import { own } from '../meta/value/walk.ts'
import type { IssuerRules } from './catalogue.ts'
import { type ClaimEntry, claimText } from './claims.ts'

/**
 * Reports whether the entry tells the tenants of an issuer apart. Until these hold, the answer to a token must not say
 * which claim is wrong.
 */
export const isTenancyEntry = (entry: ClaimEntry, { tenancy, owner }: IssuerRules): boolean =>
  tenancy.includes(entry.claim) || owner.includes(entry.claim)

/**
 * Returns the name of the claim that says that outsiders may have caused the job, or undefined. An event passes when the
 * rules accept it or when a trust lists it in `values`. A token without the claim does not pass.
 */
export function refusedEvent(
  entries: readonly ClaimEntry[],
  claims: JsonObject,
  rules: IssuerRules,
): string | undefined {
  const { events } = rules
  if (!events) return undefined
  const event = claimText(own(claims, events.claim))
  const listed = entries.filter(({ claim }) => claim === events.claim).flatMap(({ values = [] }) => values)
  return event !== undefined && [...events.accepted, ...listed].includes(event) ? undefined : events.claim
}

/** Limits the texts that are taken from claims, in characters. */
const MAX_TEXT = 256

/** Returns a short text for people that says which job the token belongs to, for example `octo-org/shop production (run 7)`. */
export function displayText(claims: JsonObject, { display }: IssuerRules): string | undefined {
  const parts = display.parts.flatMap((name) => shownText(claims, name) ?? [])
  const number = display.number && shownText(claims, display.number.claim)
  const words = number === undefined ? parts : [...parts, `(${display.number?.word} ${number})`]
  return words.length === 0 ? undefined : words.join(' ').slice(0, MAX_TEXT).toWellFormed()
}

/** Returns the claims that records of the exchange show, as texts of limited length. */
export const recordedClaims = (claims: JsonObject, { recorded }: IssuerRules): Record<string, string> =>
  Object.fromEntries(
    recorded.flatMap((name) => {
      const text = shownText(claims, name)
      return text === undefined ? [] : [[name, text]]
    }),
  )

/** Returns a scalar claim without control characters, cut to a limited length. */
function shownText(claims: JsonObject, name: string): string | undefined {
  const text = claimText(own(claims, name))?.replace(/\p{C}/gu, '').slice(0, MAX_TEXT).toWellFormed()
  return text === '' ? undefined : text
}
