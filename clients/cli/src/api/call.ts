/** Sends one request of the API: encodes the body, shows warnings, repeats what is safe to repeat, and turns refusals into errors. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { mayPass, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { warn } from '../output/messages.ts'
import { type HttpsAnswer, NetworkError, sendHttps } from './https.ts'
import { errorOf, type Received } from './status.ts'
import { warningsIn } from './warnings.ts'

export interface CallOptions {
  accept?: string
  dryRun?: boolean
  query?: Readonly<Record<string, string>>
  /** Says that a second arrival of the request changes nothing, so that it may be repeated after a failure of the network. */
  repeatable?: boolean
  /** Ends the request, in place of the signal of the process. */
  signal?: AbortSignal
}

export interface Connection {
  server: string
  certificateAuthority: string | undefined
  /** Undefined for requests that need none. */
  key: string | undefined
  /** The warnings that were shown already. */
  warned: Set<string>
}

interface Request {
  method: string
  path: string
  body: JsonObject | undefined
}

const ATTEMPTS = 4
const LONGEST_WAIT_SECONDS = 30

/** Sends a request and returns the object of the answer. Throws a StatusError when the server refuses it. */
export async function call(
  io: Io,
  connection: Connection,
  request: Request,
  options: CallOptions = {},
): Promise<JsonObject> {
  const { server, warned } = connection
  const stopped = { ...io, signal: options.signal ?? io.signal }
  const { code, headers, text } = await sendRepeatedly(stopped, connection, request, options)
  for (const warning of warningsIn(headers.warning ?? [])) {
    if (warned.has(warning)) continue
    warned.add(warning)
    warn(io, warning)
  }
  const body = parsed(text)
  if (code < 200 || code > 299 || body === undefined) {
    throw errorOf(receivedFrom(server, { code, headers, text }), body)
  }
  return body
}

/** Returns what an error tells of an answer. */
export const receivedFrom = (server: string, { code, headers, text }: HttpsAnswer): Received => ({
  server,
  code,
  contentType: headers['content-type']?.[0] ?? '',
  location: headers.location?.[0],
  retryAfter: retryAfterOf(headers),
  text,
})

function retryAfterOf(headers: HttpsAnswer['headers']): number | undefined {
  const seconds = Number(headers['retry-after']?.[0])
  return seconds > 0 ? seconds : undefined
}

/** Sends a request, repeats it as long as that is safe and may help, and returns the last answer. */
export async function sendRepeatedly(
  io: Io,
  connection: Omit<Connection, 'warned'>,
  request: Request,
  options: CallOptions,
): Promise<HttpsAnswer> {
  const repeatable = options.repeatable ?? request.method === 'GET'
  for (let attempt = 1; ; attempt++) {
    let wait = 0.25 * 2 ** attempt
    try {
      const answer = await send(io, connection, request, options)
      const after = retryAfterOf(answer.headers)
      // A request that was refused for its rate has changed nothing.
      const again = answer.code === 429 || (repeatable && mayPass(answer.code))
      if (!again || attempt === ATTEMPTS || (after ?? 0) > LONGEST_WAIT_SECONDS) return answer
      wait = after ?? wait
    } catch (error) {
      if (!(error instanceof NetworkError) || !repeatable || attempt === ATTEMPTS || !error.passing) throw error
    }
    await io.pause(wait * 1000, io.signal)
  }
}

function send(
  io: Io,
  connection: Omit<Connection, 'warned'>,
  { method, path, body }: Request,
  options: CallOptions,
): Promise<HttpsAnswer> {
  if (/[^\x21-\x7e]/.test(connection.key ?? '')) {
    throw new UsageError('The access key contains spaces, line breaks or other characters that no access key has.')
  }
  const url = new URL(`${connection.server}${path}`)
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, value)
  if (options.dryRun) url.searchParams.set('dryRun', 'All')
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return sendHttps({
    url,
    method,
    headers: {
      accept: options.accept ?? 'application/json',
      ...(connection.key !== undefined && { authorization: `Bearer ${connection.key}` }),
      ...(body !== undefined && { 'content-type': contentType }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    certificateAuthority: connection.certificateAuthority,
    signal: io.signal,
  })
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
