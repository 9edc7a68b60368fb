/**
 * Calls the API of Lambda with the credentials of the function. The client of the SDK would add 100 KB, some of it to the code that all
 * functions share. Source: AWS Lambda API Reference.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { awsHost } from '../../engine/outbound/awspartitions.ts'
import { type AwsCredentials, signatures } from '../../engine/outbound/awssignature.ts'

export interface Connection extends AwsCredentials {
  /** `https://lambda.eu-central-1.amazonaws.com` */
  endpoint: string
  region: string
}

/** A refusal of Lambda: its type, such as ResourceNotFoundException, is `name`. */
export class LambdaError extends Error {}

/** Returns the connection that Lambda gives to a function. */
export function connectionOf(environment: Readonly<Record<string, string | undefined>>): Connection {
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_LAMBDA, AWS_ENDPOINT_URL } = environment
  return {
    endpoint: AWS_ENDPOINT_URL_LAMBDA ?? AWS_ENDPOINT_URL ?? `https://${awsHost('lambda', region)}`,
    region,
    accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: environment.AWS_SESSION_TOKEN,
  }
}

const ATTEMPTS = 5
/** The pause before the second attempt, where somebody waits for the first one. */
const SHORT_PAUSE_MS = 50

/** Invokes a function, without waiting for it. */
export async function invokeLater(name: string, connection: Connection): Promise<void> {
  const path = `/2015-03-31/functions/${name}/invocations`
  await callLambda('POST', path, {}, connection, SHORT_PAUSE_MS, { [INVOCATION]: 'Event' })
}

/**
 * Sends a request and returns its answer. Throws a LambdaError when Lambda refuses it. Throttled and failed requests are repeated, with
 * pauses that double.
 */
export async function callLambda(
  method: string,
  path: string,
  body: object,
  connection: Connection,
  pauseMs: number,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string | undefined>>> {
  const url = new URL(path, connection.endpoint)
  const text = JSON.stringify(body)
  for (let attempt = 1; ; attempt++) {
    const headers = signedHeaders({ method, url, body: text, now: new Date(), more }, connection)
    const response = await fetch(url, { method, headers, body: text })
    const answer = (await response.json().catch(() => ({}))) as Record<string, string | undefined>
    if (response.ok) return answer
    const isTransient = response.status === 429 || response.status >= 500
    if (!isTransient || attempt === ATTEMPTS) {
      const error = new LambdaError(answer.Message ?? answer.message ?? `Lambda answered ${response.status}`)
      error.name = response.headers.get('x-amzn-errortype')?.split(':')[0] ?? 'LambdaError'
      throw error
    }
    await delay(pauseMs * 2 ** attempt)
  }
}

const INVOCATION = 'x-amz-invocation-type'
const sign = signatures('lambda')
const signInvocation = signatures('lambda', [INVOCATION])

/** Returns the headers of a request without a query, whose path needs no encoding. */
export function signedHeaders(
  {
    method,
    url,
    body,
    now,
    more = {},
  }: { method: string; url: URL; body: string; now: Date; more?: Readonly<Record<string, string>> },
  { region, ...credentials }: Omit<Connection, 'endpoint'>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', host: url.host, ...more }
  // Every header of AWS must be signed.
  const signAll = INVOCATION in more ? signInvocation : sign
  signAll({ method, path: url.pathname, headers, body }, now, region, credentials)
  const { host: _, ...sent } = headers
  return sent
}
