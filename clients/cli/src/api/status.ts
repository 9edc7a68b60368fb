/** Turns the answers of a server that are not objects into errors for people. */
import { causesOf, isStatus, isUnknownPath, mayPass, messageOf, type Status } from '../../../core/src/answers.ts'
import { CliError, type ExitCode } from '../io/errors.ts'

/** Reports that the server answered with a Status: it refused the request (4xx), or failed (5xx). */
export class StatusError extends CliError {
  override readonly name = 'StatusError'
  readonly code: number
  readonly status: Status

  constructor(
    code: number,
    status: Status,
    { hint, retryAfter }: { hint?: string | undefined; retryAfter?: number | undefined } = {},
  ) {
    const exitCode: ExitCode = code < 500 ? 4 : 1
    const message = messageOf(status) ?? `the server answered ${code}`
    super([message, ...causesOf(status, message).map((cause) => `  ${cause}`)].join('\n'), {
      exitCode,
      unavailable: mayPass(code),
      retryAfter,
      ...(hint !== undefined && { hint }),
    })
    this.code = code
    this.status = status
  }
}

/** Reports that the server has no such path: its URL is probably wrong. */
export class UnknownPathError extends CliError {
  override readonly name = 'UnknownPathError'
}

export interface Received {
  server: string
  code: number
  contentType: string
  location: string | undefined
  /** Seconds after which the server wants to be asked again. */
  retryAfter: number | undefined
  text: string
}

/** Returns the error of an answer other than 2xx, or of one whose body is no object. */
export function errorOf(received: Received, body: Record<string, unknown> | undefined): CliError {
  const { server, code, contentType, location, retryAfter, text } = received
  if (isStatus(body)) return new StatusError(code, body, { hint: hintOf(code, body), retryAfter })
  // A proxy answered, or the login page of a network.
  const unavailable = code !== 401 && code !== 403
  if (code >= 300 && code < 400) {
    return new CliError(`${server} redirects to ${location ?? 'another address'}. The key was not sent there.`, {
      unavailable,
      hint: 'If that is the right address of the API, log in to it: keyplane login URL',
    })
  }
  if (isUnknownPath(code, body)) {
    return new UnknownPathError(`API Gateway has no such path at ${server}.`, {
      hint: 'The stage or the base path of the URL is wrong. It ends in /kubernetes/management, after the stage if there is one: https://HOST/STAGE/kubernetes/management',
    })
  }
  if (/\bhtml\b/i.test(contentType) || /^\s*<(!doctype|html)\b/i.test(text)) {
    return new CliError(`${server} answered ${code} with a web page, not as this API does.`, {
      unavailable,
      retryAfter,
      hint: 'A proxy or the login page of the network may have answered: open the address in a browser. Or the URL is wrong.',
    })
  }
  const Wrong = code === 404 ? UnknownPathError : CliError
  return new Wrong(`${server} answered ${code} with something that is not an answer of this API.`, {
    unavailable,
    retryAfter,
    hint: WRONG_URL,
  })
}

export const WRONG_URL = 'Check the URL: it looks like https://keys.example.com/kubernetes/management'

/** How kube-apiserver words the refusal of a path that nothing serves. */
const NO_SUCH_PATH = 'the server could not find the requested resource'

function hintOf(code: number, status: Status): string | undefined {
  if (code === 401)
    return 'Log in with a valid key: keyplane login URL. If KEYPLANE_URL is set, KEYPLANE_KEY needs one.'
  if (code === 404 && messageOf(status)?.startsWith(NO_SUCH_PATH)) return WRONG_URL
  if (code === 403) return 'To see what your key may do: keyplane whoami'
  if (code === 429) return 'The server is busy. Try again in a minute.'
  if (code === 507) return 'Its administrators must make room on its disk. Nothing must be restarted.'
  if (code >= 500)
    return 'This is a failure of the server. Try again; if it fails again, tell its administrators the time of the request.'
  return undefined
}
