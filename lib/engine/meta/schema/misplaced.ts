/** Rejects credentials in fields that are not meant for them; errors name the field but not the value. */
import { LAST_APPLIED } from '../annotations.ts'
import type { FieldError } from '../errors/fielderror.ts'
import { CREDENTIAL } from '../program.ts'
import type { JsonValue, KubeObject } from '../types.ts'
import { holdsCredential, REDACTED } from '../value/credentialtext.ts'
import { child } from '../value/walk.ts'

/** Limits the number of errors in a response. */
const MOST_FINDINGS = 16

/**
 * Returns an error for each string that contains a credential or a token of this service. `object` has no write-only values
 * any more; another module cleans its last-applied annotation. Strings that `old` contains are accepted: an object with
 * a credential in it must remain editable.
 */
export function misplacedCredentials(object: KubeObject, old?: KubeObject): FieldError[] {
  const found = textsIn(object, MOST_FINDINGS)
  if (found.length === 0) return []
  const known = new Set(old && textsIn(old, Number.POSITIVE_INFINITY).map(({ text }) => text))
  return found
    .filter(({ text }) => !known.has(text))
    .map(({ path }) => ({
      type: 'FieldValueInvalid',
      field: path,
      message: `Invalid value: ${REDACTED}: may not contain an ${CREDENTIAL} or a token of this service`,
    }))
}

interface Found {
  path: string
  text: string
}

function textsIn(object: KubeObject, most: number): Found[] {
  const found: Found[] = []
  const visit = (value: JsonValue | undefined, path: string): void => {
    if (found.length >= most) return
    if (typeof value === 'string') {
      if (holdsCredential(value)) found.push({ path, text: value })
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`)
      return
    }
    for (const [name, member] of Object.entries(value)) {
      if (name === LAST_APPLIED && path === 'metadata.annotations') continue
      // Messages show paths, so do not visit members below such a name.
      if (holdsCredential(name)) found.push({ path, text: name })
      else visit(member, child(path, name))
    }
  }
  visit(object, '')
  return found
}
