/**
 * Verifies Signature Version 4 of requests to the local AWS endpoints. Other users of the machine can reach 127.0.0.1 too, so
 * only holders of the secret generated at startup may call. Verification signs the request again with the SDK's own signer and
 * compares the signatures.
 * Source: AWS Identity and Access Management, "Signature Version 4 for API requests".
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'
import { AwsError, type VerifySignature } from './awsjson.ts'

export interface SigningCredentials {
  accessKeyId: string
  secretAccessKey: string
}

export interface SignatureOptions {
  credentials: SigningCredentials
  region: string
  /** Unix milliseconds, compared with `X-Amz-Date`. */
  now: () => number
}

/** Maximum clock skew between a client and AWS. */
const MAX_SKEW = 5 * 60_000

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^\s/,]{1,128})\/(\d{8})\/([\w-]{1,64})\/([\w-]{1,64})\/aws4_request, ?SignedHeaders=([\w;-]{1,4096}), ?Signature=([0-9a-f]{64})$/

export function createVerifier({ credentials, region, now }: SignatureOptions): VerifySignature {
  return async (service, request, body) => {
    const { authorization } = request.headers
    if (authorization === undefined)
      throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token')
    const [, accessKeyId, day, signedRegion, signedService, names = '', given = ''] =
      AUTHORIZATION.exec(authorization) ?? []
    if (accessKeyId === undefined)
      throw new AwsError(
        'IncompleteSignatureException',
        'Authorization header requires Credential, SignedHeaders and Signature of AWS4-HMAC-SHA256.',
      )
    if (signedService !== service) throw refused(`Credential should be scoped to correct service: '${service}'.`)
    if (signedRegion !== region) throw refused('Credential should be scoped to a valid region.')
    const signingDate = dateOf(request, now())
    if (!isoDay(signingDate).startsWith(day ?? '')) throw refused('Date in Credential scope does not match X-Amz-Date.')
    if (accessKeyId !== credentials.accessKeyId)
      throw new AwsError('UnrecognizedClientException', 'The security token included in the request is invalid.')

    const signer = new SignatureV4({ credentials, region, service, sha256: Sha256, applyChecksum: false })
    const headers = signedHeaders(request, new Set(names.split(';')), body)
    const [path = '/'] = (request.url ?? '/').split('?')
    const canonical = { method: request.method ?? '', protocol: 'http:', hostname: '127.0.0.1', path, headers, body }
    const again = await signer.sign(canonical, { signingDate, signableHeaders: new Set(Object.keys(headers)) })
    const wanted = String(again.headers.authorization).slice(-given.length)
    if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(given)))
      throw refused('The request signature we calculated does not match the signature you provided.')
  }
}

const refused = (message: string) => new AwsError('InvalidSignatureException', message)

const isoDay = (date: Date) => date.toISOString().slice(0, 10).replaceAll('-', '')

function dateOf({ headers }: IncomingMessage, now: number): Date {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'] ?? '')) ?? []
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // The negation also refuses an invalid date.
  if (!(Math.abs(date.getTime() - now) <= MAX_SKEW)) throw refused('X-Amz-Date is missing, or too far from now.')
  return date
}

/** Returns the signed headers. Host and all x-amz- headers must be signed, and the hash must match the body. */
function signedHeaders({ headers, url }: IncomingMessage, names: ReadonlySet<string>, body: Uint8Array) {
  if (url?.includes('?')) throw refused('Signed query strings are not supported.')
  const unsigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))].filter(
    (name) => !names.has(name),
  )
  if (unsigned.length > 0) throw refused(`'${unsigned[0]}' must be a 'SignedHeader' in the AWS Authorization.`)
  const hash = headers['x-amz-content-sha256']
  if (hash !== undefined && hash !== createHash('sha256').update(body).digest('hex'))
    throw refused('X-Amz-Content-Sha256 is not the hash of the body.')
  const values = [...names].map((name) => [name, headers[name]] as const)
  const missing = values.find(([, value]) => typeof value !== 'string')
  if (missing) throw refused(`'${missing[0]}' is signed but was not sent.`)
  return Object.fromEntries(values as [string, string][])
}

/** Hashes for the signer: SHA-256, or HMAC-SHA-256 with a secret. */
export class Sha256 {
  readonly #hash
  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | Uint8Array)
  }
  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(chunk as string | Uint8Array)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}
