/** Formats events for a terminal: one short line each. */
import { styleText } from 'node:util'
import { withoutCredentials } from '../../lib/engine/meta/value/credentialtext.ts'
import { toPrintable } from '../../lib/engine/meta/value/printable.ts'
import { isObject } from '../../lib/engine/meta/value/walk.ts'

/** Returns `event changed  ci-x7k2p  spec.ttl, spec.scope  by admin`, with colours when the terminal supports them. */
export function eventLine(detail: string, screen: NodeJS.WriteStream): string {
  const event: unknown = JSON.parse(detail)
  const { type, data } = isObject(event) ? event : {}
  const { name, fields, how, days, ip, actor } = isObject(data) ? data : {}
  const user = isObject(actor) ? actor.user : undefined
  const more = [
    Array.isArray(fields) ? fields.join(', ') : undefined,
    typeof how === 'string' ? how : undefined,
    typeof days === 'number' ? `in ${days} days` : undefined,
    typeof ip === 'string' ? `from ${ip}` : undefined,
    typeof user === 'string' ? `by ${user}` : undefined,
  ].filter((part) => part !== undefined)
  const kind = String(type).split('.').at(-2) ?? ''
  const rest = more.length > 0 ? `  ${styleText('dim', clean(more.join('  ')), { stream: screen })}` : ''
  return `${styleText('cyan', 'event', { stream: screen })} ${clean(`${kind}  ${name}`)}${rest}\n`
}

/** Names come from clients. */
const clean = (text: string): string => toPrintable(withoutCredentials(text))
