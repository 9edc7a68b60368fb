/** Checks the form of an access key before it is sent anywhere. */
import { hasChecksum, KEY_PATTERN, KEY_PREFIX } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { isBearer } from '../../../core/src/forms.ts'
import { UsageError } from '../io/errors.ts'

/**
 * Returns the key that a text is, without the white space around it. Throws a UsageError that says what is wrong and where, such as
 * `in KEYPLANE_KEY`, and shows nothing of the text.
 */
export function keyIn(text: string, where: string, hint?: string): string {
  const key = text.trim()
  const problem = problemOf(key)
  if (problem !== undefined) throw new UsageError(`There is no access key ${where}: ${problem}.`, hint)
  return key
}

function problemOf(key: string): string | undefined {
  if (key === '') return 'nothing is there'
  if (key.includes('\0')) return 'the text is in UTF-16, not in UTF-8'
  if (/^(authorization\b|bearer\s)/i.test(key)) return 'the text begins like a header, not with the key'
  if (/^(["'])mpk_.*\1$/.test(key)) return 'the key is in quotation marks'
  if (/[\r\n]/.test(key)) return 'the text has several lines'
  if (/\s/.test(key)) return 'the text has a space'
  return isBearer(key) ? undefined : 'the text has a character that no key has'
}

/** Like `keyIn`, and judges the checksum of a key with one: for keys that people give, of which they may lose a part. */
export function wholeKeyIn(text: string, where: string, hint?: string): string {
  const key = keyIn(text, where, hint)
  if (!key.startsWith(KEY_PREFIX) || (KEY_PATTERN.test(key) && hasChecksum(key))) return key
  throw new UsageError(`There is no whole access key ${where}: its checksum does not match. Was a part of it lost?`)
}
