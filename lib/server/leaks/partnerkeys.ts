/**
 * Verifies that a report comes from GitHub: its secret scanning partner programme signs the bytes of the body. The public
 * keys are at a fixed URL of the deployment, and are remembered for an hour. Without them, no report is verified.
 * Source: GitHub documentation, "Secret scanning partner program".
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { parseJson } from '../../meta/encoding/json.ts'
import { utf8 } from '../../meta/encoding/utf8.ts'
import { isObject } from '../../meta/value/walk.ts'
import type { Destinations } from '../../outbound/addresses.ts'
import { shared } from '../../outbound/fetched.ts'
import { type HttpsAnswer, sendHttps } from '../../outbound/https.ts'

/** The headers of a signed report, by lower-case name. */
const KEY_HEADER = 'github-public-key-identifier'
const SIGNATURE_HEADER = 'github-public-key-signature'

export interface PartnerKeysDeps {
  url: string
  /** Where requests may go. */
  destinations: Destinations
  /** PEM of the trusted authorities. Absent: the public ones. */
  certificateAuthority?: string
  /** Returns a signal that aborts after this time. */
  timeout(ms: number): AbortSignal
  /** Unix ms. */
  now(): number
  /** Learns that the keys could not be read. */
  failed(error: unknown): void
}

/** Who has sent a report. */
export type Reporter =
  | 'github'
  | 'anybody'
  /** The report has a signature, but the keys of GitHub are not known. */
  | 'unknown'

export interface PartnerKeys {
  /** Returns who has sent these bytes. A report without a signature costs no request. */
  reporterOf(body: Buffer, headers: Readonly<Record<string, string>>): Promise<Reporter>
}

const minute = 60_000
const FRESH_MS = 60 * minute
/** The least time between two requests, failed ones included. */
const BETWEEN_MS = 5 * minute
const REQUEST_MS = 2_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_KEYS = 50

interface Known {
  keys: ReadonlyMap<string, KeyObject>
  etag: string | undefined
  fetchedAt: number
}

/** Returns the keys. Create them once per process, because they remember what they fetched. */
export function createPartnerKeys(deps: PartnerKeysDeps): PartnerKeys {
  let known: Known = { keys: new Map(), etag: undefined, fetchedAt: Number.NEGATIVE_INFINITY }
  let attemptedAt = Number.NEGATIVE_INFINITY

  /** Fetches the keys, but only every few minutes. */
  const renew = shared(async () => {
    if (deps.now() - attemptedAt < BETWEEN_MS) return
    attemptedAt = deps.now()
    try {
      const answer = await request(deps, known.etag)
      const isSame = answer.status === 304 && known.etag !== undefined
      known = { ...(isSame ? known : readAnswer(answer)), fetchedAt: attemptedAt }
    } catch (error) {
      deps.failed(error)
    }
  })

  const isFresh = () => deps.now() - known.fetchedAt < FRESH_MS

  return {
    async reporterOf(body, { [KEY_HEADER]: id = '', [SIGNATURE_HEADER]: text = '' }) {
      const signature = Buffer.from(text, 'base64')
      const isWhole = /^[\w-]{1,128}$/.test(id) && signature.length > 0 && signature.toString('base64') === text
      if (!isWhole) return 'anybody'
      if (!isFresh() || !known.keys.has(id)) await renew()
      if (!isFresh()) return 'unknown'
      const key = known.keys.get(id)
      return key && verify('sha256', body, { key, dsaEncoding: 'der' }, signature) ? 'github' : 'anybody'
    },
  }
}

function request(
  { url, destinations, certificateAuthority, timeout }: PartnerKeysDeps,
  etag?: string,
): Promise<HttpsAnswer> {
  return sendHttps({
    url: new URL(url),
    method: 'GET',
    headers: { Accept: 'application/json', ...(etag !== undefined && { 'If-None-Match': etag }) },
    signal: timeout(REQUEST_MS),
    maxBytes: MAX_ANSWER_BYTES,
    destinations,
    ...(certificateAuthority !== undefined && { certificateAuthority }),
  })
}

/** Reads `{"public_keys": [{"key_identifier", "key"}, …]}`. Throws an Error that quotes nothing of the answer. */
function readAnswer({ status, headers, body }: HttpsAnswer): Omit<Known, 'fetchedAt'> {
  if (status !== 200) throw new Error(`the keys of partners were answered with HTTP status ${status}`)
  const listed = parseAnswer(body)
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_KEYS) throw unusable()
  const keys = new Map(
    listed.map((one) => {
      if (!isObject(one) || typeof one.key_identifier !== 'string' || typeof one.key !== 'string') throw unusable()
      return [one.key_identifier, p256Key(one.key)] as const
    }),
  )
  const { etag } = headers
  return { keys, etag: etag !== undefined && /^(W\/)?"[!-~]{0,256}"$/.test(etag) ? etag : undefined }
}

function parseAnswer(body: Buffer): unknown {
  try {
    const { value, duplicates } = parseJson(utf8(body), 1000)
    return isObject(value) && duplicates.length === 0 ? value.public_keys : undefined
  } catch {
    throw unusable()
  }
}

const PUBLIC_KEY = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/

/** How the SubjectPublicKeyInfo of every uncompressed point of P-256 begins, and its size (RFC 5480). */
const P256 = { prefix: '3059301306072a8648ce3d020106082a8648ce3d03010703420004', bytes: 91 }

/** Returns a key of P-256. Other keys do not reach the cryptography library, where a large one breaks connections of the process. */
function p256Key(pem: string): KeyObject {
  const [, text = ''] = PUBLIC_KEY.exec(pem) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length !== P256.bytes || !key.toString('hex').startsWith(P256.prefix)) throw unusable()
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' })
  } catch {
    throw unusable()
  }
}

const unusable = () => new Error('the answer has no usable keys of partners')
