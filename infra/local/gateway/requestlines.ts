/** Formats requests for people: one short line each, in place of the functions' JSON. */
import { styleText } from 'node:util'
import { withoutCredentials } from '../../../lib/engine/meta/value/credentialtext.ts'
import { decodeUser } from '../../../lib/keys/requests/usercontext.ts'

export interface Answered {
  method: string
  /** Path without the query, which is long and may be private. */
  path: string
  /** 0 when the client disconnected before the response. */
  status: number
  milliseconds: number
  /** The authorizer's context, if an authorizer ran. */
  authorizer?: Readonly<Record<string, unknown>> | undefined
}

type Screen = NodeJS.WriteStream

/** Returns `200 GET    /apis  4 ms  alice (ci-x7k2p)`, with colours when the terminal supports them and NO_COLOR is not set. */
export function requestLine({ method, path, status, milliseconds, authorizer }: Answered, screen: Screen): string {
  const colour = status === 0 || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  const paint = (format: 'red' | 'yellow' | 'green' | 'dim', text: string) =>
    styleText(format, text, { stream: screen })
  const code = paint(colour, status === 0 ? 'left' : String(status))
  const rest = paint('dim', `${Math.round(milliseconds)} ms  ${asker(authorizer)}`.trimEnd())
  return `${code} ${method.padEnd(6)} ${withoutCredentials(path)}  ${rest}\n`
}

function asker(authorizer: Answered['authorizer']): string {
  try {
    const { user } = decodeUser(authorizer ?? {})
    return `${user.name} (${user.key.name})`
  } catch {
    return ''
  }
}
