/**
 * Validates the names of field managers and derives the default name from the User-Agent.
 * Source: k8s.io/apimachinery meta/v1/validation, k8s.io/apiserver endpoints/handlers/create.go.
 */

import { isPrintable } from '../encoding/gotext.ts'
import { headerText } from '../encoding/headertext.ts'
import { type FieldError, invalid, tooLong } from '../errors/fielderror.ts'

const MAX_BYTES = 128

const bytes = (text: string): number => Buffer.byteLength(text)

/** Returns the errors of a name. The empty name is valid and means that none was given. Positions count UTF-8 bytes. */
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

/** Returns the default name: the printable characters of the User-Agent before its first slash, at most 128 bytes; may be ''. */
export function defaultFieldManager(userAgent: string): string {
  let name = ''
  for (const character of headerText(userAgent).split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue
    if (bytes(name) + bytes(character) > MAX_BYTES) break
    name += character
  }
  return name
}
