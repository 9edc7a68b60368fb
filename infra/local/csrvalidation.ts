/**
 * What kube-apiserver refuses in a CertificateSigningRequest, in its words.
 * Source: k8s.io/kubernetes pkg/apis/certificates/validation and plugin/pkg/admission/certificates, 1.34.
 */
import { badRequest } from '../../lib/meta/errors.ts'
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../lib/meta/field.ts'
import { parseRequest } from './certificates.ts'
import { API_VERSION, type CsrCondition, type CsrSpec, KIND } from './csrobject.ts'

/** All usages that exist, sorted as the error text lists them. */
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

const MIN_SECONDS = 600
const MAX_INT32 = 2_147_483_647

export type Members = Readonly<Record<string, unknown>>

const cannotBeHandled = (why: string) =>
  badRequest(`${KIND} in version "v1" cannot be handled as a ${KIND}: json: ${why}`)

/** The object in a member; `{}` when it is absent or null. Throws a 400 for other types. */
export function objectOf(holder: Members, name: string): Members {
  const value = memberOf(holder, name)
  if (value === undefined) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Members
  throw cannotBeHandled(`cannot unmarshal ${typeof value} into Go struct field ${KIND}.${name} of type object`)
}

/** The text in a member; '' when it is absent or null. Throws a 400 for other types. */
export function textOf(holder: Members, name: string): string {
  const value = memberOf(holder, name) ?? ''
  if (typeof value === 'string') return value
  throw cannotBeHandled(`cannot unmarshal ${typeof value} into Go struct field ${KIND}.${name} of type string`)
}

export function textMapOf(holder: Members, name: string): Record<string, string> {
  const map = objectOf(holder, name)
  return Object.fromEntries(Object.keys(map).map((key) => [key, textOf(map, key)]))
}

const memberOf = (holder: Members, name: string): NonNullable<unknown> | undefined =>
  Object.hasOwn(holder, name) ? (holder[name] ?? undefined) : undefined

export function listOf(holder: Members, name: string): unknown[] {
  const value = memberOf(holder, name) ?? []
  if (Array.isArray(value)) return value
  throw cannotBeHandled(`cannot unmarshal ${typeof value} into Go struct field ${KIND}.${name} of type []`)
}

/** Throws a 400 for another kind; both may be absent. */
export function checkKind(body: Members): void {
  const [apiVersion, kind] = [textOf(body, 'apiVersion') || API_VERSION, textOf(body, 'kind') || KIND]
  if (apiVersion !== API_VERSION)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${API_VERSION})`,
    )
  if (kind !== KIND)
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${KIND}: no kind "${kind}" is registered`)
}

/** Reads a spec by its types; what is absent is empty. Throws a 400. */
export function readSpec(spec: Members): CsrSpec {
  const seconds = memberOf(spec, 'expirationSeconds')
  if (
    seconds !== undefined &&
    !(typeof seconds === 'number' && Number.isInteger(seconds) && Math.abs(seconds) <= MAX_INT32)
  )
    throw cannotBeHandled(
      `cannot unmarshal ${typeof seconds} into Go struct field ${KIND}Spec.spec.expirationSeconds of type int32`,
    )
  const usages = listOf(spec, 'usages').map((usage) => textOf({ usages: usage }, 'usages'))
  return {
    request: textOf(spec, 'request'),
    signerName: textOf(spec, 'signerName'),
    ...(typeof seconds === 'number' && { expirationSeconds: seconds }),
    usages,
  }
}

/** ValidateCertificateSigningRequestCreate; the organizations of the request when all is well. */
export async function validateSpec(spec: CsrSpec): Promise<{ errors: FieldError[]; organizations: string[] }> {
  const errors: FieldError[] = []
  let organizations: string[] = []
  try {
    organizations = (await parseRequest(Buffer.from(spec.request, 'base64').toString('latin1'))).organizations
  } catch (error) {
    errors.push(invalid('spec.request', spec.request, (error as Error).message))
  }
  if (spec.usages.length === 0) errors.push(required('spec.usages'))
  const seen = new Set<string>()
  for (const [index, usage] of spec.usages.entries()) {
    const field = `spec.usages[${index}]`
    if (!USAGES.includes(usage)) errors.push(notSupported(field, usage, USAGES))
    if (seen.has(usage)) errors.push(duplicate(field, usage))
    seen.add(usage)
  }
  errors.push(...validateSignerName(spec.signerName))
  if (spec.expirationSeconds !== undefined && spec.expirationSeconds < MIN_SECONDS)
    errors.push(
      invalid(
        'spec.expirationSeconds',
        spec.expirationSeconds,
        'may not specify a duration less than 600 seconds (10 minutes)',
      ),
    )
  return { errors, organizations }
}

function validateSignerName(name: string): FieldError[] {
  const field = 'spec.signerName'
  if (name === '') return [required(field)]
  if (name === 'kubernetes.io/legacy-unknown')
    return [invalid(field, name, 'the legacy signerName is not allowed via this API version')]
  if (!/^[a-z0-9.-]+\/[A-Za-z0-9][\w./-]*$/.test(name))
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  if (!name.slice(0, name.indexOf('/')).includes('.'))
    return [invalid(field, name, 'should be a domain with at least two segments separated by dots')]
  return []
}

const DECISIONS = ['Approved', 'Denied', 'Failed']

/** What an approval may not do to the conditions. */
export function validateApproval(before: readonly CsrCondition[], after: readonly CsrCondition[]): FieldError[] {
  const errors = after.flatMap(({ type, status }, index) => {
    const field = `status.conditions[${index}]`
    if (type === '') return [required(`${field}.type`)]
    if (after.findIndex((one) => one.type === type) < index) return [duplicate(`${field}.type`, type)]
    if (!DECISIONS.includes(type) || status === 'True') return []
    return [status === '' ? required(`${field}.status`) : notSupported(`${field}.status`, status, ['True'])]
  })
  const types = after.map(({ type }) => type)
  if (types.includes('Approved') && types.includes('Denied'))
    errors.push(invalid('status.conditions', 'Approved', 'Approved and Denied conditions are mutually exclusive'))
  for (const type of DECISIONS) {
    const [old, now] = [before, after].map((conditions) => conditions.find((one) => one.type === type))
    const done =
      old && !now ? 'remove' : !old && now && type === 'Failed' ? 'add' : old && now && differ(old, now) ? 'modify' : ''
    if (done) errors.push(forbidden('status.conditions', `updates may not ${done} a condition of type "${type}"`))
  }
  return errors
}

const differ = (one: CsrCondition, other: CsrCondition): boolean =>
  one.status !== other.status || one.reason !== other.reason || one.message !== other.message

/** Reads conditions by their types. Throws a 400. */
export const readConditions = (status: Members): CsrCondition[] =>
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
