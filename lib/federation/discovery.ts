/**
 * Fetches the public keys of an issuer over HTTPS: its discovery document names the key set. Nothing of an answer reaches
 * an error, because the error is logged.
 * Source: OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3.
 */
import { parseJson } from '../engine/meta/encoding/json.ts'
import { utf8 } from '../engine/meta/encoding/utf8.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { withoutTrailingSlashes } from '../engine/meta/value/slashes.ts'
import { isObject } from '../engine/meta/value/walk.ts'
import type { Destinations } from '../engine/outbound/addresses.ts'
import { type HttpsAnswer, sendHttps } from '../engine/outbound/https.ts'
import { type PublicKey, parseKeySet } from './jwks.ts'

export interface KeySource {
  issuer: string
  /** Absent: from the discovery document. */
  jwksURI?: string | undefined
}

export interface FetchedKeys {
  /** The keys that can verify ID tokens; may be empty. */
  keys: PublicKey[]
  /** How long the issuer says that the keys may be kept. */
  maxAgeSeconds?: number
}

interface FetchDeps {
  /** Where requests may go. */
  destinations: Destinations
  /** PEM of the trusted authorities. Absent: the public ones. */
  certificateAuthority?: string
  /** Returns a signal that aborts after this time. */
  timeout(ms: number): AbortSignal
}

/** Thrown for an answer that cannot be used. The message quotes nothing of it. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer'
}

/** Thrown for a document that the issuer does not have. */
class MissingDocument extends UnusableAnswer {}

const REQUEST_MS = 3_000
const TOTAL_MS = 5_000
/** Limits each answer, framing included. The largest known key sets have some 20 KiB. */
const MAX_ANSWER_BYTES = 128 * 1024
const MAX_VALUES = 5000

/** kube-apiserver serves its keys only to clients that accept their own media type. */
const ACCEPT = 'application/json, application/jwk-set+json, */*;q=0.1'

/** Media types of the documents. Some issuers serve them as text, and stores of files without one of their own. */
const MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/octet-stream',
  'binary/octet-stream',
  'application/jwk-set+json',
  'text/json',
  'text/plain',
])

/** Fetches the keys. Throws OutboundError, UnusableAnswer or UnusableKeySet. */
export async function fetchKeys(deps: FetchDeps, { issuer, jwksURI }: KeySource): Promise<FetchedKeys> {
  const total = deps.timeout(TOTAL_MS)
  const get = (url: URL) => getDocument(deps, url, total)
  const { body, headers } = await get(jwksURI === undefined ? await discoverKeys(issuer, get) : new URL(jwksURI))
  const keys = parseKeySet(decode(body))
  const maxAge = readMaxAge(headers['cache-control'] ?? '')
  return { keys, ...(maxAge !== undefined && { maxAgeSeconds: maxAge }) }
}

/**
 * Returns the address of the key set. The discovery document must name exactly the issuer that was asked, or one issuer
 * could serve its keys for another.
 */
async function discoverKeys(issuer: string, get: (url: URL) => Promise<HttpsAnswer>): Promise<URL> {
  const asked = new URL(issuer)
  const { body } = await getMetadata(asked, get)
  const document = parseDocument(decode(body))
  if (document.issuer !== issuer) throw new UnusableAnswer('the discovery document names another issuer')
  const url = typeof document.jwks_uri === 'string' ? URL.parse(document.jwks_uri) : null
  const isUsual = url?.protocol === 'https:' && url.username === '' && url.password === ''
  if (!isUsual || (url.port !== '' && url.port !== asked.port)) {
    throw new UnusableAnswer('jwks_uri of the discovery document is not an https URL with the usual port')
  }
  return url
}

/**
 * Returns the document of OpenID Connect or, if the issuer has none, that of RFC 8414, whose path begins at the root of the same host.
 * Only the owner of a host has its `/.well-known/` (RFC 8615).
 */
async function getMetadata(issuer: URL, get: (url: URL) => Promise<HttpsAnswer>): Promise<HttpsAnswer> {
  const path = withoutTrailingSlashes(issuer.pathname)
  try {
    return await get(new URL(`${path}/.well-known/openid-configuration`, issuer))
  } catch (error) {
    if (!(error instanceof MissingDocument)) throw error
    return get(new URL(`/.well-known/oauth-authorization-server${path}`, issuer))
  }
}

async function getDocument(
  { destinations, certificateAuthority, timeout }: FetchDeps,
  url: URL,
  total: AbortSignal,
): Promise<HttpsAnswer> {
  const answer = await sendHttps({
    url,
    method: 'GET',
    headers: { Accept: ACCEPT },
    signal: AbortSignal.any([timeout(REQUEST_MS), total]),
    maxBytes: MAX_ANSWER_BYTES,
    destinations,
    ...(certificateAuthority !== undefined && { certificateAuthority }),
  })
  checkAnswer(answer)
  return answer
}

function checkAnswer({ status, headers }: HttpsAnswer): void {
  if (status !== 200) {
    const Unusable = status === 404 ? MissingDocument : UnusableAnswer
    throw new Unusable(`the issuer answered with HTTP status ${status}`)
  }
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';')
  if (!MEDIA_TYPES.has(mediaType.trim().toLowerCase())) throw new UnusableAnswer('the answer of the issuer is not JSON')
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new UnusableAnswer('the answer of the issuer is compressed, although the request did not allow that')
  }
}

function decode(body: Buffer): string {
  try {
    return utf8(body)
  } catch {
    throw new UnusableAnswer('the answer of the issuer is not UTF-8')
  }
}

function parseDocument(text: string): JsonObject {
  let parsed: ReturnType<typeof parseJson>
  try {
    parsed = parseJson(text, MAX_VALUES)
  } catch {
    // The message of the decoder quotes a character of the text.
    throw new UnusableAnswer('the discovery document is not valid JSON')
  }
  if (!isObject(parsed.value)) throw new UnusableAnswer('the discovery document is not a JSON object')
  if (parsed.duplicates.length > 0) throw new UnusableAnswer('the discovery document has a member twice')
  return parsed.value
}

/** Returns `max-age` of a Cache-Control header: 0 if the answer may not be kept. */
function readMaxAge(header: string): number | undefined {
  const directives = header.split(',').map((one) => one.trim().toLowerCase())
  if (directives.includes('no-store') || directives.includes('no-cache')) return 0
  const [, seconds] =
    directives.map((one) => /^max-age="?(\d{1,10})"?$/.exec(one)).find((match) => match !== null) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
