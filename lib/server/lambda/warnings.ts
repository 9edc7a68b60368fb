/**
 * Warnings as headers. Source: k8s.io/apiserver/pkg/endpoints/filters/warning.go, k8s.io/apimachinery/pkg/util/net
 * (NewWarningHeader).
 */
import { withoutCredentials } from '../../meta/value/credentials.ts'

/** The code 299 and the agent `-`. ASCII, since gateways refuse headers of anything else: other characters read as in JSON. */
function header(text: string): string {
  const ascii = text.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `299 - "${ascii.replace(/["\\]/g, '\\$&')}"`
}

/** In characters: what all texts may have together before each is cut, and what is left of one then. */
const maxLength = 4096
const cutLength = 256

/** API Gateway passes on 10,240 bytes of headers, and turns an answer with more of them into a failure. */
const maxBytes = 8192
/** `Warning: ` and the end of the line. */
const lineBytes = 11

/** A text with a control character is no header, and is not sent. */
const canBeSent = (text: string): boolean => !/\p{Cc}/u.test(text)

/** The texts that are sent: each as it is, or the beginning of each where they are too long together. */
function sent(texts: readonly string[]): string[] {
  let length = 0
  const tooMany = texts.findIndex((text) => {
    if (canBeSent(text)) length += [...text].length
    return length > maxLength
  })
  return tooMany < 0 ? texts.filter(canBeSent) : cut(texts, tooMany)
}

/** The beginnings of all texts up to one, and of those after it while there is room. */
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

/** Returns each text once, without credentials: the first ones, as many as the gateway passes on. */
export function warningHeaders(texts: readonly string[]): string[] {
  const headers: string[] = []
  let bytes = 0
  for (const text of sent([...new Set(texts.map(withoutCredentials))].filter(Boolean))) {
    const line = header(text)
    bytes += line.length + lineBytes
    if (bytes > maxBytes) break
    headers.push(line)
  }
  return headers
}
