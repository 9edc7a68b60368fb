/**
 * The audit record: one line of the log per request, written by whoever ends it. docs/audit.md says what each member
 * means. The authorizer writes it for requests that get no user (no key, a dead one, a scope that leaves it out), the
 * handler for all others. Nothing here sees a body or a header but User-Agent.
 */
import { namespaced } from '../../apis/resources.ts'
import { isWellFormed } from '../../authentication/accesskey.ts'
import { type RoutedRequest, requestAttributes } from '../../authorization/attributes/requestattributes.ts'
import { StatusError } from '../../meta/errors/status.ts'
import { withoutCredentials } from '../../meta/value/credentials.ts'
import type { Note } from '../../registry/kind.ts'
import type { Config } from '../process/config.ts'
import type { LogFields } from '../process/log.ts'

/** What is read of the events of a proxy integration and of an authorizer: they have it alike. */
export interface AuditedEvent extends RoutedRequest {
  requestContext: {
    requestId: string
    identity: { sourceIp: string; userAgent: string | null }
  }
}

/** How requests are read, here and by the authorizer. */
export const routing = ({ basePath }: Pick<Config, 'basePath'>) => ({ basePath, namespaced })

/** Whether the request was allowed, and by which line of which rule; not whether it succeeded. */
export interface Judgement {
  decision: 'allow' | 'deny'
  reason: string
}

/** The longest texts, in characters. What is cut ends in `…`. */
const LONGEST = 256
/** What of a reason travels from the authorizer to the handler. */
export const MAX_REASON = 512
const OTHERS: Readonly<Record<string, number>> = { reason: MAX_REASON, userAgent: 128 }
const MOST_ITEMS = 16

/**
 * The record of a request. `facts` are who asked and what was made; a member of theirs that names something (`name` of a
 * creation) stands for what the URL says. All texts are bounded, printable and without anything that looks like a credential.
 */
export function auditRecord(
  event: AuditedEvent,
  config: Pick<Config, 'basePath'>,
  {
    facts = {},
    judgement,
    code,
    latencyMs,
  }: { facts?: LogFields; judgement: Judgement; code: number; latencyMs: number },
): LogFields {
  const { requestId, identity } = event.requestContext
  const record: LogFields = {
    requestId,
    sourceIp: identity.sourceIp,
    userAgent: identity.userAgent ?? undefined,
    ...asked(event, config),
    ...facts,
    ...judgement,
    code,
    latencyMs: Math.round(latencyMs),
  }
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, bounded(name, value)]))
}

/** Verb and object of the request; of one whose path cannot be read, its method and its route. */
function asked(event: AuditedEvent, config: Pick<Config, 'basePath'>): LogFields {
  try {
    const attributes = requestAttributes(event, routing(config))
    const { kind, target: _, verb } = attributes
    if (kind === 'nonresource') return { verb, path: attributes.path }
    const { group, resource, subresource, namespace, name } = attributes
    return { verb, apiGroup: group, resource, ...present({ subresource, namespace, name }) }
  } catch (error) {
    if (error instanceof StatusError) return { verb: event.httpMethod.toLowerCase(), path: event.resource }
    throw error
  }
}

const present = (texts: Record<string, string>): LogFields =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

function bounded(name: string, value: LogFields[string]): LogFields[string] {
  const most = OTHERS[name] ?? LONGEST
  if (typeof value === 'string') return plain(value, most)
  return typeof value === 'object' ? value.slice(0, MOST_ITEMS).map((item) => plain(item, most)) : value
}

/** Control, format (invisible, direction-changing), surrogate and line separator characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Printable text of at most `most` characters. */
function plain(text: string, most: number): string {
  // Cut twice: what can never be shown need not be looked through.
  const printable = withoutCredentials(text.slice(0, 16 * most)).replace(UNPRINTABLE, '\u{FFFD}')
  const characters = [...printable]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : printable
}

export type UnknownReason = 'no bearer token' | 'not an access key' | 'unknown access key'

/** Why a request has no user, without any of what it showed. */
export function unknownReason(token: string | undefined): UnknownReason {
  if (token === undefined) return 'no bearer token'
  return isWellFormed(token) ? 'unknown access key' : 'not an access key'
}

/**
 * The judgement of a request that a handler answered, out of its notes: `scope` and `access` are the rules that allowed
 * it, `denied` is why something is refused or hidden, `refusal` the message of a 401 or 403. The other notes are facts.
 * A 404 for what is hidden is a denial, whatever the client sees; so is whatever happens without a user.
 */
export function judgementOf(
  notes: Readonly<Record<string, Note>>,
  code: number,
): { judgement: Judgement; facts: LogFields } {
  const { scope, access, denied, refusal, ...facts } = notes
  const isDenial = code === 401 || code === 403 || (code === 404 && denied !== undefined)
  if (isDenial) return { judgement: { decision: 'deny', reason: joined(denied ?? refusal ?? 'no user') }, facts }
  if (scope === undefined && access === undefined) return { judgement: { decision: 'deny', reason: 'no user' }, facts }
  return { judgement: { decision: 'allow', reason: joined(scope, access) }, facts }
}

const joined = (...reasons: (Note | undefined)[]): string => reasons.filter((one) => one !== undefined).join('; ')
