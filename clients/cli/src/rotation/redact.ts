/** Removes secrets from the output and the environment of a program, also those that are encoded. */
import { StringDecoder } from 'node:string_decoder'
import { REDACTED } from '../../../../lib/engine/meta/value/credentialtext.ts'

export interface Redactor {
  push(chunk: Buffer): void
  end(): void
}

/** Writes what is pushed, without the secrets. Only the end of a chunk that may begin one waits for the next chunk. */
export function redactor(secrets: readonly string[], write: (text: string) => void): Redactor {
  const forms = secrets.flatMap(formsOf)
  const pattern = patternOf(forms)
  const decoder = new StringDecoder('utf8')
  let held = ''
  const take = (text: string, isLast: boolean) => {
    const clean = (held + text).replace(pattern, REDACTED)
    const keep = isLast ? 0 : beginningAtEnd(clean, forms)
    held = clean.slice(clean.length - keep)
    if (clean.length > keep) write(clean.slice(0, clean.length - keep))
  }
  return {
    push: (chunk) => take(decoder.write(chunk), false),
    end: () => take(decoder.end(), true),
  }
}

/** Returns the environment without the key of this program, and without all variables that contain a secret. */
export function withoutSecrets(env: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const pattern = patternOf(secrets.flatMap(formsOf))
  const isOpen = ([name, value = '']: [string, string | undefined]) =>
    name.toUpperCase() !== 'KEYPLANE_KEY' && value.search(pattern) < 0
  return Object.fromEntries(Object.entries(env).filter(isOpen))
}

/** Returns the texts that show a secret: itself, and what JSON, URLs and base64 make of it. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret)
  const strictUrl = url.replace(/[!'()*~]/g, escaped('%'))
  const formUrl = url.replace(/[!'()~]/g, escaped('%'))
  const forms = [secret, json, json.replace(/[<>&]/g, escaped('\\u00')), url, strictUrl, formUrl]
  const lowerCase = [url, strictUrl, formUrl].map((one) => one.replace(/%../g, (code) => code.toLowerCase()))
  return [...new Set([...forms, ...lowerCase, ...[0, 1, 2].flatMap((before) => base64Of(secret, before))])]
}

const escaped = (prefix: string) => (one: string) => {
  const code = one.charCodeAt(0).toString(16)
  return `${prefix}${prefix === '%' ? code.toUpperCase() : code}`
}

/** Returns the characters of base64 that only the secret decides when so many bytes are before it in its group of three. */
function base64Of(secret: string, before: number): string[] {
  const bytes = Buffer.from('\0'.repeat(before) + secret)
  const from = before === 0 ? 0 : before + 1
  const to = Math.floor((bytes.length * 8) / 6)
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(from, to))
}

/** Returns a pattern that finds the forms, also those that are broken into lines. */
function patternOf(forms: readonly string[]): RegExp {
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const parts = longestFirst.map((form) => [...form].map((one) => one.replace(/\W/, '\\$&')).join('[\\r\\n]*'))
  return new RegExp(parts.join('|'), 'g')
}

/** Returns the length of the longest end of the text with which a form begins. */
function beginningAtEnd(text: string, forms: readonly string[]): number {
  const most = 2 * Math.max(...forms.map((form) => form.length))
  for (let at = Math.max(0, text.length - most); at < text.length; at++) {
    const end = text.slice(at).replace(/[\r\n]+/g, '')
    if (end.length > 0 && !/[\r\n]/.test(text[at] ?? '') && forms.some((form) => form.startsWith(end)))
      return text.length - at
  }
  return 0
}
