/**
 * Names of field managers: what a request may say, and what it is called when it says nothing.
 * Source: k8s.io/apimachinery meta/v1/validation, k8s.io/apiserver endpoints/handlers/create.go.
 */

import { isPrintable } from '../encoding/gotext.ts'
import { type FieldError, invalid, tooLong } from '../errors/fielderror.ts'

const MAX_BYTES = 128

const bytes = (text: string): number => Buffer.byteLength(text)

/** What is wrong with a name; '' is valid and stands for none. Positions count UTF-8 bytes. */
export function validateFieldManager(name: string, field = 'fieldManager'): FieldError[] {
  const errors = bytes(name) > MAX_BYTES ? [tooLong(field, MAX_BYTES)] : []
  let position = 0
  for (const character of name) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid(field, name, `invalid character U+${code} (at position ${position})`))
    }
    position += bytes(character)
  }
  return errors
}

/** The name of a manager that gave none: the User-Agent up to its first slash, printable, cut to 128 bytes; may be ''. */
export function defaultFieldManager(userAgent: string): string {
  let name = ''
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue
    if (bytes(name) + bytes(character) > MAX_BYTES) break
    name += character
  }
  return name
}
