/** Sends one request of the API: encodes the body, shows warnings, repeats what is safe to repeat, and turns refusals into errors. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { asSentence, mayPass, objectIn, retryAfterIn } from '../../../core/src/answers.ts'
import { duration } from '../../../core/src/durations.ts'
import { isBearer } from '../../../core/src/forms.ts'
import type { HttpsAnswer } from '../../../core/src/https.ts'
import { warningsIn } from '../../../core/src/warnings.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note, warn } from '../output/messages.ts'
import { NetworkError, send } from './https.ts'
import { errorOf, type Received } from './status.ts'

export interface CallOptions {
  accept?: string
  dryRun?: boolean
  query?: Readonly<Record<string, string>>
  /** Says that a second arrival of the request changes nothing, so that it may be repeated after a failure of the network. */
  repeatable?: boolean
  /** Gets each warning of the answer, which is shown too. */
  onWarning?(text: string): void
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
  /** Operations of a JSON patch are a list. */
  body: JsonObject | JsonObject[] | undefined
}

const ATTEMPTS = 4
const LONGEST_WAIT_SECONDS = 30
/** When to say that no answer has come yet. */
const SLOW_MILLISECONDS = 10_000
const SLOW = 'The server has not answered for 10 seconds. Still waiting.'

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
    options.onWarning?.(warning)
    if (warned.has(warning)) continue
    warned.add(warning)
    warn(io, warning)
  }
  const body = objectIn(text) as JsonObject | undefined
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
  retryAfter: retryAfterIn(headers['retry-after']?.[0]),
  text,
})

/** Sends a request, repeats it as long as that is safe and may help, and returns the last answer. */
export function sendRepeatedly(
  io: Io,
  connection: Omit<Connection, 'warned'>,
  request: Request,
  options: CallOptions,
): Promise<HttpsAnswer> {
  const repeatable = options.repeatable ?? request.method === 'GET'
  const isSafe = ({ code }: HttpsAnswer) => repeatable && mayPass(code)
  return repeatedly(io, { repeatable, isSafe }, () => sendFor(io, connection, request, options))
}

interface Repetition {
  /** Whether the request may be sent again when no answer has come. */
  repeatable: boolean
  /** Whether the request may be sent again after an answer. After a 429 it always may: what was refused for its rate has changed nothing. */
  isSafe(answer: HttpsAnswer): boolean
}

/** Returns the last answer of a few attempts. Throws the error of the last one. */
export async function repeatedly(
  io: Io,
  { repeatable, isSafe }: Repetition,
  sendOnce: () => Promise<HttpsAnswer>,
): Promise<HttpsAnswer> {
  for (let attempt = 1; ; attempt++) {
    let wait = 0.25 * 2 ** attempt
    const slow = setTimeout(() => note(io, SLOW), SLOW_MILLISECONDS)
    try {
      const answer = await Promise.resolve()
        .then(sendOnce)
        .finally(() => clearTimeout(slow))
      const after = retryAfterIn(answer.headers['retry-after']?.[0])
      const again = answer.code === 429 || isSafe(answer)
      if (!again || attempt === ATTEMPTS || (after ?? 0) > LONGEST_WAIT_SECONDS) return answer
      wait = after ?? wait
    } catch (error) {
      const isOver = attempt === ATTEMPTS || !(error instanceof NetworkError) || !error.passing || error.isSilence
      if (!repeatable || isOver) throw error
    }
    await io.pause(wait * 1000, io.signal)
  }
}

/** How long a command goes on that nobody wants to find half done later. */
const PATIENCE_MILLISECONDS = 300_000

/** Returns the first answer. Throws the error of a refusal or a certificate at once, and one that may pass only after minutes. */
export async function patiently<T>(io: Io, ask: () => Promise<T>): Promise<T> {
  const end = io.elapsed() + PATIENCE_MILLISECONDS
  for (let wait = 5; ; wait = Math.min(wait * 2, LONGEST_WAIT_SECONDS)) {
    try {
      return await ask()
    } catch (error) {
      const seconds = Math.max(wait, error instanceof CliError ? (error.retryAfter ?? 0) : 0)
      const isFinal =
        !(error instanceof CliError) || !error.unavailable || (error instanceof NetworkError && !error.passing)
      if (isFinal || io.elapsed() + seconds * 1000 > end) throw error
      note(io, `${asSentence(error.message.split('\n')[0] ?? '')} Trying again in ${duration(seconds)}.`)
      await io.pause(seconds * 1000)
    }
  }
}

function sendFor(
  io: Io,
  connection: Omit<Connection, 'warned'>,
  { method, path, body }: Request,
  options: CallOptions,
): Promise<HttpsAnswer> {
  if (connection.key !== undefined && !isBearer(connection.key)) {
    throw new UsageError('The access key contains spaces, line breaks or other characters that no access key has.')
  }
  const url = new URL(`${connection.server}${path}`)
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, value)
  if (options.dryRun) url.searchParams.set('dryRun', 'All')
  const patchType = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
  return send({
    url,
    method,
    headers: {
      accept: options.accept ?? 'application/json',
      ...(connection.key !== undefined && { authorization: `Bearer ${connection.key}` }),
      ...(body !== undefined && { 'content-type': method === 'PATCH' ? patchType : 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    certificateAuthority: connection.certificateAuthority,
    signal: io.signal,
  })
}
