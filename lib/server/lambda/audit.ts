/**
 * Builds the audit record, one log line per request. docs/audit.md documents its members. The authorizer writes it for
 * requests that it rejects: without a key, with an invalid key, or outside the scope. The handler writes it for all
 * others. The record never contains bodies or headers, except User-Agent.
 */

import { type RoutedRequest, requestAttributes } from '../../access/attributes/requestattributes.ts'
import { headerText } from '../../engine/meta/encoding/headertext.ts'
import { StatusError } from '../../engine/meta/errors/status.ts'
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'
import { toPrintable } from '../../engine/meta/value/printable.ts'
import type { Note } from '../../engine/registry/kind.ts'
import { isWellFormed } from '../../keys/credential/accesskey.ts'
import { namespaced } from '../../kinds.ts'
import type { Config } from '../process/config.ts'
import type { LogFields } from '../process/logger.ts'

/** The members that the events of proxy integrations and of authorizers have in common. */
export interface AuditedEvent extends RoutedRequest {
  requestContext: {
    requestId: string
    identity: { sourceIp: string; userAgent: string | null }
  }
}

/** Returns the options for reading requests, here and in the authorizer. */
export const routingOptions = ({ basePath }: Pick<Config, 'basePath'>) => ({ basePath, namespaced })

/** The decision about a request, and the rule behind it. It does not say whether the request succeeded. */
export interface Judgement {
  decision: 'allow' | 'deny'
  reason: string
}

/** Maximum length of texts, in characters. Truncated texts end in `…`. */
const LONGEST = 256
/** Maximum length of the reason that the authorizer passes to the handler. */
export const MAX_REASON = 512
const OTHERS: Readonly<Record<string, number>> = { reason: MAX_REASON, userAgent: 128 }
const MOST_ITEMS = 16

/**
 * Returns the audit record of a request. `facts` say who made the request and what it created. They override members from
 * the URL, such as the `name` of a created object. All texts are bounded, printable and free of possible credentials.
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
    userAgent: identity.userAgent ? headerText(identity.userAgent) : undefined,
    ...describeTarget(event, config),
    ...facts,
    ...judgement,
    code,
    latencyMs: Math.round(latencyMs),
  }
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, limitValue(name, value)]))
}

/** Returns the verb and object of the request, or its method and route if its path is invalid. */
function describeTarget(event: AuditedEvent, config: Pick<Config, 'basePath'>): LogFields {
  try {
    const attributes = requestAttributes(event, routingOptions(config))
    const { kind, target: _, verb } = attributes
    if (kind === 'nonresource') return { verb, path: attributes.path }
    const { group, resource, subresource, namespace, name } = attributes
    return { verb, apiGroup: group, resource, ...omitEmpty({ subresource, namespace, name }) }
  } catch (error) {
    if (error instanceof StatusError) return { verb: event.httpMethod.toLowerCase(), path: event.resource }
    throw error
  }
}

const omitEmpty = (texts: Record<string, string>): LogFields =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

function limitValue(name: string, value: LogFields[string]): LogFields[string] {
  const most = OTHERS[name] ?? LONGEST
  if (typeof value === 'string') return printableText(value, most)
  return typeof value === 'object' ? value.slice(0, MOST_ITEMS).map((item) => printableText(item, most)) : value
}

/** Matches almost every text, which then needs no replacement. */
const PRINTABLE_ASCII = /^[ -~]*$/

/** Returns printable text of at most `most` characters. */
function printableText(text: string, most: number): string {
  // Cut before redacting, to bound the work, and again afterwards.
  const redacted = withoutCredentials(text.slice(0, 16 * most))
  if (redacted.length <= most && PRINTABLE_ASCII.test(redacted)) return redacted
  const printable = toPrintable(redacted)
  const characters = [...printable]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : printable
}

export type UnknownReason = 'no bearer token' | 'not an access key' | 'unknown access key'

/** Returns why a token authenticates no user, without any part of the token. */
export function unknownReason(token: string | undefined): UnknownReason {
  if (token === undefined) return 'no bearer token'
  return isWellFormed(token) ? 'unknown access key' : 'not an access key'
}

/**
 * Returns the judgement and the facts of a request that a handler answered, from its notes. `scope` and `access` are the
 * rules that allowed it. `denied` is why an object was refused or hidden, `refusal` is the message of a 401 or 403, and `denial` is
 * why a review says in its own form that it may not be created. The other notes are facts. A 404 for a hidden object is a denial, and
 * so is every response without a user.
 */
export function judgementOf(
  notes: Readonly<Record<string, Note>>,
  code: number,
): { judgement: Judgement; facts: LogFields } {
  const { scope, access, denied, refusal, denial, ...facts } = notes
  if (denial !== undefined) return { judgement: { decision: 'deny', reason: joined(denial) }, facts }
  const isDenial = code === 401 || code === 403 || (code === 404 && denied !== undefined)
  if (isDenial) return { judgement: { decision: 'deny', reason: joined(denied ?? refusal ?? 'no user') }, facts }
  if (scope === undefined && access === undefined) return { judgement: { decision: 'deny', reason: 'no user' }, facts }
  return { judgement: { decision: 'allow', reason: joined(scope, access) }, facts }
}

const joined = (...reasons: (Note | undefined)[]): string => reasons.filter((one) => one !== undefined).join('; ')
