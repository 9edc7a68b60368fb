/**
 * Validates names, label keys and label values with Kubernetes' messages, and generates names.
 * Each check returns the errors of a value, or an empty list if it is valid. All checks run in linear time.
 * Source: k8s.io/apimachinery/pkg/util/validation and api/validation, k8s.io/apiserver/pkg/storage/names.
 */

const LABEL_CHARS = "lower case alphanumeric characters or '-'"
const SUBDOMAIN_CHARS = "lower case alphanumeric characters, '-' or '.'"
const ENDS = 'and must start and end with an alphanumeric character'
const LABEL_FORMAT = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN_FORMAT = String.raw`${LABEL_FORMAT}(\.${LABEL_FORMAT})*`
const QUALIFIED_FORMAT = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const QUALIFIED_RULE = `must consist of alphanumeric characters, '-', '_' or '.', ${ENDS}`

export const MAX_LABEL = 63
const MAX_SUBDOMAIN = 253

/** Appends `(e.g. 'a',  or 'b', regex used for validation is '…')`, with the two spaces of Kubernetes' message. */
function withExamples(rule: string, format: string, ...examples: string[]): string {
  return `${rule} (e.g. ${examples.map((one) => `'${one}', `).join(' or ')}regex used for validation is '${format}')`
}

/** Counts UTF-8 bytes, as Kubernetes does, although the message says characters. */
const tooLongText = (value: string, max: number): string[] =>
  Buffer.byteLength(value) > max ? [`must be no more than ${max} characters`] : []

const isLabel = (value: string): boolean => /^[-a-z0-9]+$/.test(value) && !value.startsWith('-') && !value.endsWith('-')

const isSubdomain = (value: string): boolean => value.split('.').every(isLabel)

/** Validates a DNS label: a namespace, or a name that becomes part of a host name. */
export function dnsLabelErrors(value: string): string[] {
  const errors = tooLongText(value, MAX_LABEL)
  if (isLabel(value)) return errors
  if (isSubdomain(value)) return [...errors, 'must not contain dots']
  const rule = `a lowercase RFC 1123 label must consist of ${LABEL_CHARS}, ${ENDS}`
  return [...errors, withExamples(rule, LABEL_FORMAT, 'my-name', '123-abc')]
}

/** Validates a DNS subdomain: the name of an object. */
export function dnsSubdomainErrors(value: string): string[] {
  const errors = tooLongText(value, MAX_SUBDOMAIN)
  if (isSubdomain(value)) return errors
  const rule = `a lowercase RFC 1123 subdomain must consist of ${SUBDOMAIN_CHARS}, ${ENDS}`
  return [...errors, withExamples(rule, SUBDOMAIN_FORMAT, 'example.com')]
}

/** Reports whether the name of an object may begin with this text, or be it. */
export function isSubdomainBeginning(value: string): boolean {
  const labels = value.split('.')
  const last = labels.pop() ?? ''
  return value !== '' && value.length <= MAX_SUBDOMAIN && labels.every(isLabel) && /^([a-z0-9][-a-z0-9]*)?$/.test(last)
}

const isName = (value: string): boolean =>
  /^[-A-Za-z0-9_.]+$/.test(value) && /^[A-Za-z0-9]/.test(value) && /[A-Za-z0-9]$/.test(value)

function prefixErrors(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return dnsSubdomainErrors(prefix).map((text) => `prefix part ${text}`)
}

/** Validates a key of a label or annotation (lower-cased first), or a finalizer: `[subdomain/]name`. */
export function qualifiedNameErrors(value: string): string[] {
  const rule = withExamples(QUALIFIED_RULE, QUALIFIED_FORMAT, 'MyName', 'my.name', '123-abc')
  const slash = value.indexOf('/')
  if (slash !== value.lastIndexOf('/')) {
    return [`a qualified name ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const name = value.slice(slash + 1)
  return [
    ...(slash < 0 ? [] : prefixErrors(value.slice(0, slash))),
    ...(name === ''
      ? ['name part must be non-empty']
      : tooLongText(name, MAX_LABEL).map((text) => `name part ${text}`)),
    ...(isName(name) ? [] : [`name part ${rule}`]),
  ]
}

/** Validates the value of a label. */
export function labelValueErrors(value: string): string[] {
  const errors = tooLongText(value, MAX_LABEL)
  if (value === '' || isName(value)) return errors
  const rule = `a valid label must be an empty string or ${QUALIFIED_RULE.slice('must '.length)}`
  return [...errors, withExamples(rule, `(${QUALIFIED_FORMAT})?`, 'MyValue', 'my_value', '12345')]
}

/** Validates that a name can be a path segment, the minimum for any kind. A prefix may be `.` or `..`. */
export function pathSegmentErrors(value: string, prefix = false): string[] {
  if (!prefix && (value === '.' || value === '..')) return [`may not be '${value}'`]
  return ['/', '%'].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`)
}

/**
 * Prepares a generateName for validation: replaces a trailing dash, which is valid before the suffix, and the character
 * before it.
 */
export const maskTrailingDash = (prefix: string): string =>
  prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix

/** Contains no vowels and no 0, 1 or 3, so that suffixes do not spell words. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5

/** Appends five random characters to `base`, cut so that the name stays a DNS label. `random(n)` is uniform in [0, n). */
export function generateName(base: string, random: (bound: number) => number): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_ALPHABET[random(SUFFIX_ALPHABET.length)])
  return base.slice(0, MAX_LABEL - SUFFIX_LENGTH) + suffix.join('')
}
