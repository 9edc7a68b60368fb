/**
 * Validates CertificateSigningRequests as kube-apiserver does, with its messages.
 * Source: k8s.io/kubernetes pkg/apis/certificates/validation and plugin/pkg/admission/certificates, 1.34.
 */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../lib/meta/errors/fielderror.ts'
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from '../../../lib/meta/object/names.ts'
import { parseRequest } from '../host/certificates.ts'
import type { CsrCondition, CsrSpec } from './csrobject.ts'

/** All valid usages, in the order of the error message. */
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

/** Implements ValidateCertificateSigningRequestCreate. Returns the organizations of a valid request. */
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
  const [domain = '', path, ...more] = name.split('/')
  if (path === undefined || more.length > 0)
    return [invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const labels = domain.split('.')
  const wrong = (value: string, of: string, texts: string[]) =>
    texts.map((text) => invalid(field, of, `validating label "${value}": ${text}`))
  return [
    ...labels.flatMap((label) => wrong(label, domain, dnsLabelErrors(label))),
    ...(labels.length < 2
      ? [invalid(field, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...path.split('.').flatMap((part) => wrong(part, path, dnsSubdomainErrors(part))),
  ]
}

/** Accepts any name that is valid as a path segment. */
export function validateMetadata(
  name: string,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): FieldError[] {
  const each = (field: string, value: string, texts: string[]) => texts.map((text) => invalid(field, value, text))
  return [
    ...(name === ''
      ? [required('metadata.name', 'name or generateName is required')]
      : each('metadata.name', name, pathSegmentErrors(name))),
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...each('metadata.labels', key, qualifiedNameErrors(key)),
      ...each('metadata.labels', value, labelValueErrors(value)),
    ]),
    ...Object.keys(annotations).flatMap((key) =>
      each('metadata.annotations', key, qualifiedNameErrors(key.toLowerCase())),
    ),
  ]
}

const DECISIONS = ['Approved', 'Denied', 'Failed']

/** Validates the changes that an approval makes to the conditions. */
export function validateApproval(before: readonly CsrCondition[], after: readonly CsrCondition[]): FieldError[] {
  const errors = after.flatMap(({ type, status }, index) => {
    const field = `status.conditions[${index}]`
    if (type === '') return [required(`${field}.type`)]
    if (after.findIndex((one) => one.type === type) < index) return [duplicate(`${field}.type`, type)]
    if (!DECISIONS.includes(type) || status === 'True') return []
    return [status === '' ? required(`${field}.status`) : notSupported(`${field}.status`, status, ['True'])]
  })
  const types = after.map(({ type }) => type)
  const last = types.findLast((type) => type === 'Approved' || type === 'Denied')
  if (types.includes('Approved') && types.includes('Denied'))
    errors.push(invalid('status.conditions', last, 'Approved and Denied conditions are mutually exclusive'))
  for (const { type } of before)
    if (DECISIONS.includes(type) && !types.includes(type))
      errors.push(forbidden('status.conditions', `updates may not remove a condition of type "${type}"`))
  return errors
}
