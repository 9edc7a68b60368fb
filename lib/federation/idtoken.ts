/**
 * Reads ID tokens, and checks their form and their times. Nothing here proves who wrote a token: `verifySignature` does.
 * Source: RFC 7515 (JWS), RFC 7519 (JWT), RFC 8725 (best current practices), OpenID Connect Core 1.0 section 2.
 */
import { createHash } from 'node:crypto'
import { holdsFloat } from '../engine/meta/encoding/floats.ts'
import { parseJson } from '../engine/meta/encoding/json.ts'
import { DecodeError, TOO_MANY_VALUES } from '../engine/meta/encoding/jsonscanner.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { utf8 } from '../engine/meta/encoding/utf8.ts'
import type { JsonObject, JsonValue } from '../engine/meta/types.ts'
import { isObject, own } from '../engine/meta/value/walk.ts'
import { isAlgorithm, type SignatureAlgorithm } from './algorithms.ts'
import { LONGEST_LIFE } from './issuers.ts'

/** An ID token of the right form. */
export interface IdToken {
  alg: SignatureAlgorithm
  kid?: string
  issuer: string
  audience: string
  subject: string
  /** Seconds since 1970, as are the other times. */
  issuedAt: number
  expires: number
  notBefore?: number
  /** The payload, without the claims that contain a number in floating point notation: nothing can be compared with them. */
  claims: JsonObject
  /** The part of the text that the signature protects. */
  signingInput: string
  signature: Uint8Array
  text: string
}

/** Thrown for a text that is not an acceptable ID token. The message is printable ASCII and does not quote the text. */
export class MalformedIdToken extends Error {
  override readonly name = 'MalformedIdToken'
}

/** Limits the text of a token, in characters. Tokens of people with many groups have some 8 KiB. */
const MAX_ID_TOKEN_LENGTH = 16 * 1024
const MAX_DEPTH = 16
const MAX_MEMBERS = 256
const MAX_VALUES = 1000
/** Accepts clocks that differ by this many seconds. */
export const LEEWAY = 30

/** Reads an ID token. Throws MalformedIdToken unless it has the right form. */
export function parseIdToken(token: string): IdToken {
  if (token.length > MAX_ID_TOKEN_LENGTH) throw new MalformedIdToken('the subject token is longer than 16 KiB')
  const parts = token.split('.', 6)
  if (parts.length === 5) throw new MalformedIdToken('the subject token is encrypted')
  const [header, payload, signature] = parts.map(decodePart)
  if (parts.length !== 3 || !header || !payload || !signature)
    throw new MalformedIdToken('the subject token is not a JWT')
  if (signature.length === 0) throw new MalformedIdToken('the subject token has no signature')
  const signingInput = token.slice(0, token.lastIndexOf('.'))
  return { ...readHeader(header), ...readPayload(payload), signingInput, signature, text: token }
}

interface TimeProblem {
  reason: 'expired' | 'not_yet_valid' | 'too_long' | 'too_old'
  /** Contains times of the token. Show it only after the signature has been verified. */
  message: string
}

/** What the provider of a token says about its times. Both are in seconds. */
interface TimeLimits {
  /** The longest time from `iat` to `exp`. Absent: that of any type of issuer, which `parseIdToken` has checked. */
  longest?: number
  maxTokenAge?: number | undefined
}

/** The text is the same for all issuers: none of those that may live longer reaches it. */
const TOO_LONG =
  'the subject token is valid for more than 24 hours: ask the issuer for a shorter one (GitLab: a shorter timeout of the job)'

/** Returns why the token is not valid at this time, or undefined. */
export function checkTimes(
  token: IdToken,
  now: Date,
  { longest = LONGEST_LIFE, maxTokenAge }: TimeLimits = {},
): TimeProblem | undefined {
  const seconds = unixSeconds(now)
  const { expires, issuedAt, notBefore = issuedAt } = token
  const because = (reason: TimeProblem['reason'], what: string) => ({ reason, message: `the subject token ${what}` })
  if (expires - issuedAt > longest) return { reason: 'too_long', message: TOO_LONG }
  const ahead = (claim: string, time: number) =>
    because('not_yet_valid', `is not yet valid (${claim} ${rfc3339OfUnix(time)}, ${time - seconds} s ahead)`)
  if (seconds >= expires + LEEWAY) {
    return because(
      'expired',
      `has expired (exp ${rfc3339OfUnix(expires)}, ${seconds - expires} s ago): get it right before the exchange`,
    )
  }
  if (issuedAt > seconds + LEEWAY) return ahead('iat', issuedAt)
  if (notBefore > seconds + LEEWAY) return ahead('nbf', notBefore)
  if (maxTokenAge === undefined || seconds - issuedAt <= maxTokenAge + LEEWAY) return undefined
  return because(
    'too_old',
    `is too old (iat ${rfc3339OfUnix(issuedAt)}, ${seconds - issuedAt} s ago, at most ${maxTokenAge} s): get a new one from the issuer`,
  )
}

/**
 * Returns the id under which the exchange of the token is recorded. It does not cover the signature, which can be rewritten
 * without becoming invalid (ECDSA), and needs no `jti`, which many issuers leave out.
 */
export const replayId = ({ signingInput }: Pick<IdToken, 'signingInput'>): string =>
  createHash('sha256').update(signingInput).digest('base64url')

/** Decodes base64url. Returns undefined unless the text is the one canonical encoding, without padding and spare bits. */
function decodePart(part: string): Uint8Array | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}

/** A media type is compared without case, and an object in this serialization may say `JOSE`. Source: RFC 7515 section 4.1.9, RFC 7519 section 5.1. */
const ID_TOKEN_TYPE = /^(application\/)?(jwt|jose)$/i

/**
 * Reads the header. Other parameters are ignored (RFC 7515 section 4), also those that bring a key or the address of one: only the keys
 * of the provider count. No extension is supported, so none may be critical (section 4.1.11).
 */
function readHeader(bytes: Uint8Array): Pick<IdToken, 'alg' | 'kid'> {
  const { value: header } = decodeObject(bytes, 'header')
  if (Object.hasOwn(header, 'crit'))
    throw new MalformedIdToken(
      'the header of the subject token has critical parameters (crit), which are not supported',
    )
  const { alg, kid, typ = 'JWT' } = header
  if (typeof typ !== 'string' || !ID_TOKEN_TYPE.test(typ))
    throw new MalformedIdToken('the subject token is not an ID token: typ in its header is not JWT')
  if (!isAlgorithm(alg)) throw new MalformedIdToken('alg in the header of the subject token is not supported')
  if (kid === undefined) return { alg }
  if (typeof kid !== 'string') throw new MalformedIdToken('kid in the header of the subject token is not a string')
  return { alg, kid }
}

type Payload = Omit<IdToken, 'alg' | 'kid' | 'signingInput' | 'signature' | 'text'>

const REQUIRED = ['iss', 'sub', 'aud', 'iat', 'exp']

function readPayload(bytes: Uint8Array): Payload {
  const { value, floats } = decodeObject(bytes, 'payload')
  const claims = Object.fromEntries(Object.entries(value).filter(([name, one]) => !holdsFloat(one, name, floats)))
  refuseOtherTokens(value)
  const missing = REQUIRED.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) throw new MalformedIdToken(`the subject token has no claim ${missing}`)
  const issuer = requireText(claims, 'iss')
  const subject = requireText(claims, 'sub')
  const aud = own(claims, 'aud')
  if (Array.isArray(aud) && aud.length !== 1)
    throw new MalformedIdToken('aud of the subject token is not one audience: ask for a token for this API alone')
  const audience = requireText({ aud: Array.isArray(aud) ? (aud[0] ?? null) : (aud ?? null) }, 'aud')
  const issuedAt = requireTime(value, 'iat')
  const expires = requireTime(value, 'exp')
  const notBefore = Object.hasOwn(value, 'nbf') ? requireTime(value, 'nbf') : undefined
  if (expires <= issuedAt) throw new MalformedIdToken('exp of the subject token is not after iat')
  if (expires - issuedAt > LONGEST_LIFE) throw new MalformedIdToken(TOO_LONG)
  return { issuer, subject, audience, issuedAt, expires, ...(notBefore !== undefined && { notBefore }), claims }
}

/**
 * Throws for tokens that are made for another purpose and whose header does not say so: access tokens (`typ` of Keycloak,
 * `token_use` of Cognito, `scp` of Entra and Okta) and logout tokens (`events`).
 */
function refuseOtherTokens(claims: JsonObject): void {
  const typ = own(claims, 'typ') ?? 'ID'
  const use = own(claims, 'token_use') ?? 'id'
  const isIdToken = (typ === 'ID' || typ === 'JWT') && use === 'id'
  if (!isIdToken || Object.hasOwn(claims, 'scp') || Object.hasOwn(claims, 'events')) {
    throw new MalformedIdToken('the subject token is not an ID token: its claims are those of another token')
  }
}

function requireText(claims: JsonObject, name: string): string {
  const value = own(claims, name)
  if (typeof value === 'string' && value !== '') return value
  throw new MalformedIdToken(`${name} of the subject token is not a string`)
}

/** Returns a time in whole seconds. It may have a fraction (RFC 7519 section 2), which clocks that differ make meaningless. */
function requireTime(claims: JsonObject, name: string): number {
  const value = own(claims, name)
  if (typeof value === 'number' && value >= 0 && value <= MAX_TIME) return Math.floor(value)
  throw new MalformedIdToken(`${name} of the subject token is not a time in seconds`)
}

/** The last second of the year 9999, the last time that RFC 3339 can write. */
const MAX_TIME = 253_402_300_799

function decodeObject(bytes: Uint8Array, part: 'header' | 'payload') {
  const { value, duplicates, floats } = decodeJson(bytes, part)
  if (!isObject(value)) throw new MalformedIdToken(`the ${part} of the subject token is not a JSON object`)
  if (duplicates.length > 0) throw new MalformedIdToken(`the ${part} of the subject token has a member twice`)
  if (countMembers(value, 1) > MAX_MEMBERS) {
    throw new MalformedIdToken(`the ${part} of the subject token has more than ${MAX_MEMBERS} members`)
  }
  return { value, floats }
}

function decodeJson(bytes: Uint8Array, part: string) {
  try {
    return parseJson(utf8(bytes), MAX_VALUES)
  } catch (error) {
    const isLong = error instanceof DecodeError && error.message === TOO_MANY_VALUES
    // Other messages of the decoder quote a character of the token.
    throw new MalformedIdToken(
      `the ${part} of the subject token ${isLong ? `has more than ${MAX_VALUES} values` : 'is not valid JSON'}`,
    )
  }
}

/** Counts the members of all objects. Throws MalformedIdToken when values are nested too deeply. */
function countMembers(value: JsonValue, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > MAX_DEPTH) throw new MalformedIdToken(`the subject token has more than ${MAX_DEPTH} levels of nesting`)
  const inside = Object.values(value)
  const members = Array.isArray(value) ? 0 : inside.length
  return inside.reduce<number>((sum, one) => sum + countMembers(one, depth + 1), members)
}
