/** Reads the members of CertificateSigningRequests that clients send. */
import { badRequest } from '../../../lib/meta/errors/status.ts'
import { API_VERSION, type CsrCondition, type CsrSpec, KIND } from './csrobject.ts'

const MAX_INT32 = 2_147_483_647

export type JsonMembers = Readonly<Record<string, unknown>>

const cannotBeHandled = (why: string) => badRequest(`${KIND} in version "v1" cannot be handled as a ${KIND}: ${why}`)

/** Describes a value as Go's decoder does, which shows a number only where another number is expected. */
const wrongType = (value: unknown, field: string, type: string) =>
  cannotBeHandled(
    `json: cannot unmarshal ${typeof value}${typeof value === 'number' && type === 'int32' ? ` ${value}` : ''} into Go struct field ${field} of type ${type}`,
  )

/** Returns the object in a member, `{}` when absent or null. Throws 400 for other types. */
export function objectOf(holder: JsonMembers, name: string): JsonMembers {
  const value = memberOf(holder, name)
  if (value === undefined) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as JsonMembers
  throw wrongType(value, `${KIND}.${name}`, 'object')
}

/** Returns the string in a member, '' when absent or null. Throws 400 for other types. */
export function textOf(holder: JsonMembers, name: string): string {
  const value = memberOf(holder, name) ?? ''
  if (typeof value === 'string') return value
  throw wrongType(value, `${KIND}.${name}`, 'string')
}

export function textMapOf(holder: JsonMembers, name: string): Record<string, string> {
  const map = objectOf(holder, name)
  return Object.fromEntries(Object.keys(map).map((key) => [key, textOf(map, key)]))
}

const memberOf = (holder: JsonMembers, name: string): NonNullable<unknown> | undefined =>
  Object.hasOwn(holder, name) ? (holder[name] ?? undefined) : undefined

function listOf(holder: JsonMembers, name: string): unknown[] {
  const value = memberOf(holder, name) ?? []
  if (Array.isArray(value)) return value
  throw wrongType(value, `${KIND}.${name}`, '[]string')
}

/** Throws 400 for another apiVersion or kind; both may be absent. */
export function checkKind(body: JsonMembers): void {
  const [apiVersion, kind] = [textOf(body, 'apiVersion') || API_VERSION, textOf(body, 'kind') || KIND]
  if (apiVersion === API_VERSION && kind === KIND) return
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${KIND}: no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:110"`,
  )
}

/** Matches the base64 that Go's decoder accepts: padded, with newlines anywhere. */
function base64Of(holder: JsonMembers, name: string): string {
  const text = textOf(holder, name)
  const bare = text.replace(/[\r\n]/g, '')
  const wrong = /[^A-Za-z0-9+/]/.exec(bare.replace(/={0,2}$/, ''))?.index
  if (wrong === undefined && bare.length % 4 === 0) return bare
  throw cannotBeHandled(`illegal base64 data at input byte ${wrong ?? bare.length}`)
}

/** Reads a spec and fills absent members with empty values. Throws 400 for wrong types. */
export function readSpec(spec: JsonMembers): CsrSpec {
  const seconds = memberOf(spec, 'expirationSeconds')
  if (
    seconds !== undefined &&
    !(typeof seconds === 'number' && Number.isInteger(seconds) && Math.abs(seconds) <= MAX_INT32)
  )
    throw wrongType(seconds, `${KIND}Spec.spec.expirationSeconds`, 'int32')
  const usages = listOf(spec, 'usages').map((usage) => textOf({ usages: usage }, 'usages'))
  return {
    request: base64Of(spec, 'request'),
    signerName: textOf(spec, 'signerName'),
    ...(typeof seconds === 'number' && { expirationSeconds: seconds }),
    usages,
  }
}

/** Reads conditions. Throws 400 for wrong types. */
export const readConditions = (status: JsonMembers): CsrCondition[] =>
  listOf(status, 'conditions').map((condition) => {
    const members = objectOf({ condition }, 'condition')
    const text = (name: 'reason' | 'message' | 'lastUpdateTime' | 'lastTransitionTime') => {
      const value = textOf(members, name)
      return value === '' ? {} : { [name]: value }
    }
    return {
      type: textOf(members, 'type'),
      status: textOf(members, 'status'),
      ...text('reason'),
      ...text('message'),
      ...text('lastUpdateTime'),
      ...text('lastTransitionTime'),
    }
  })
