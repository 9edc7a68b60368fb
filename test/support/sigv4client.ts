/** Calls the local AWS endpoints with signed requests, optionally changed after signing. */
import { request } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'
import { Sha256 } from '../../infra/local/aws/sigv4.ts'
import { credentials, region } from './aws.ts'

export interface SignedCall {
  endpoint: string
  service: string
  /** `TrentService.Sign`, or '' for none. */
  target?: string
  body?: string
  path?: string
  /** Replace the test credentials. */
  secretAccessKey?: string
  accessKeyId?: string
  region?: string
  signingDate?: Date
  /** Additional signed headers. */
  headers?: Record<string, string>
  /** Replaces parts of the request after signing. */
  sent?: { headers?: Record<string, string | undefined>; body?: string; path?: string; method?: string }
}

/** Sends the request and returns its status and parsed body. */
export async function callSigned(call: SignedCall): Promise<{ status: number; json: Record<string, unknown> }> {
  const { endpoint, service, target = '', body = '{}', path = '/', sent = {}, ...as } = call
  const { host, hostname } = new URL(endpoint)
  const signer = new SignatureV4({ credentials: { ...credentials, ...as }, region, service, sha256: Sha256, ...as })
  const signed = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname,
      path,
      headers: { host, ...(target && { 'x-amz-target': target }), ...as.headers },
      body,
    },
    { ...(as.signingDate && { signingDate: as.signingDate }) },
  )
  const headers = Object.fromEntries(
    Object.entries({ ...signed.headers, ...sent.headers }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${endpoint}${sent.path ?? path}`,
      { method: sent.method ?? 'POST', headers },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, json: JSON.parse(text) }))
      },
    )
    outgoing.on('error', reject).end(sent.body ?? body)
  })
}
