/** What somebody at a terminal sees of a request: one short line in place of the functions' JSON. */
import { styleText } from 'node:util'
import { decodeUser } from '../../../lib/authentication/usercontext.ts'
import { withoutCredentials } from '../../../lib/meta/value/credentials.ts'

export interface Answered {
  method: string
  /** Without the query: what it selects is nobody's business at a screen, and it is long. */
  path: string
  /** 0: the client has left before it was answered. */
  status: number
  milliseconds: number
  /** What the authorizer left in the context of the request, if it was asked. */
  authorizer?: Readonly<Record<string, unknown>> | undefined
}

type Screen = NodeJS.WriteStream

/** Returns `200 GET    /apis  4 ms  alice (ci-x7k2p)`, in colours where the screen shows any and NO_COLOR does not say otherwise. */
export function requestLine({ method, path, status, milliseconds, authorizer }: Answered, screen: Screen): string {
  const colour = status === 0 || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  const paint = (format: 'red' | 'yellow' | 'green' | 'dim', text: string) =>
    styleText(format, text, { stream: screen })
  const code = paint(colour, status === 0 ? 'left' : String(status))
  const rest = paint('dim', `${Math.round(milliseconds)} ms  ${asker(authorizer)}`.trimEnd())
  return `${code} ${method.padEnd(6)} ${withoutCredentials(path)}  ${rest}\n`
}

function asker(authorizer: Answered['authorizer']): string {
  const user = authorizer?.user
  if (typeof user !== 'string') return ''
  try {
    const { name, key } = decodeUser(user)
    return `${name} (${key.name})`
  } catch {
    return ''
  }
}

/** Shows errors of the functions in one line, and drops their other lines, which the lines of the requests stand for. */
export function hideFunctionLogs(screen: Screen): void {
  const { write } = screen
  screen.write = ((chunk: string | Uint8Array, ...rest: never[]) => {
    if (typeof chunk !== 'string' || !/^\{"level":"(info|error)"/.test(chunk)) return write.call(screen, chunk, ...rest)
    const { level, message, error = '' } = JSON.parse(chunk) as { level: string; message: string; error?: string }
    if (level === 'error') write.call(screen, `${styleText('red', 'error', { stream: screen })} ${message}  ${error}\n`)
    return true
  }) as typeof write
}
