/**
 * Encodes warnings as headers. Source: k8s.io/apiserver/pkg/endpoints/filters/warning.go,
 * k8s.io/apimachinery/pkg/util/net (NewWarningHeader).
 */
import { withoutCredentials } from '../meta/value/credentialtext.ts'

/** Returns a warning with code 299 and agent `-`. It escapes non-ASCII characters as in JSON, because gateways reject them. */
function header(text: string): string {
  const ascii = text.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `299 - "${ascii.replace(/["\\]/g, '\\$&')}"`
}

/** If all texts together exceed `maxLength` characters, each is truncated to `cutLength`. */
const maxLength = 4096
const cutLength = 256

/** API Gateway allows 10,240 bytes of headers, and fails a response with more. */
const maxBytes = 8192
/** Length of `Warning: ` and of the line break. */
const lineBytes = 11

/** Reports whether a text can be a header: texts with control characters are dropped. */
const canBeSent = (text: string): boolean => !/\p{Cc}/u.test(text)

/** Returns the texts to send. They are truncated if they are too long together. */
function limitWarnings(texts: readonly string[]): string[] {
  let length = 0
  const tooMany = texts.findIndex((text) => {
    if (canBeSent(text)) length += [...text].length
    return length > maxLength
  })
  return tooMany < 0 ? texts.filter(canBeSent) : cut(texts, tooMany)
}

/** Truncates all texts up to index `upTo`, and as many of the following texts as fit. */
function cut(texts: readonly string[], upTo: number): string[] {
  const shown: string[] = []
  let length = 0
  for (const [index, text] of texts.entries()) {
    const beginning = [...text].slice(0, cutLength)
    if (index > upTo && length >= maxLength) break
    if (!canBeSent(beginning.join(''))) continue
    length += beginning.length
    shown.push(beginning.join(''))
  }
  return shown
}

/** Returns the warning headers, without duplicates and credentials. Drops warnings that exceed the limit of the gateway. */
export function warningHeaders(texts: readonly string[]): string[] {
  const headers: string[] = []
  let bytes = 0
  for (const text of limitWarnings([...new Set(texts.map(withoutCredentials))].filter(Boolean))) {
    const line = header(text)
    bytes += line.length + lineBytes
    if (bytes > maxBytes) break
    headers.push(line)
  }
  return headers
}
