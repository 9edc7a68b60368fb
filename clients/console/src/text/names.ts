/** Checks names of objects as Kubernetes does, and makes names. */
import { isName } from '../../../core/src/forms.ts'

const LONGEST = 253

/** Returns what is wrong with the name of an object, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (name.length > LONGEST) return `A name has at most ${LONGEST} characters.`
  if (isName(name)) return undefined
  return 'Use lower-case letters, digits, “-” and “.”. Begin and end each part with a letter or digit.'
}

/** Contains no vowels and no 0, 1 or 3, as in the names that the server makes, so that suffixes do not spell words. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
/** With so many characters two names are never the same by chance. */
const SUFFIX_LENGTH = 8

/** Returns the prefix with random characters. `randomBytes` makes so many random numbers. */
export function randomName(prefix: string, randomBytes: (size: number) => Uint8Array): string {
  let suffix = ''
  // Larger numbers would make some characters likelier than others.
  const limit = 256 - (256 % SUFFIX_ALPHABET.length)
  while (suffix.length < SUFFIX_LENGTH) {
    const [one = limit] = randomBytes(1)
    if (one < limit) suffix += SUFFIX_ALPHABET.charAt(one % SUFFIX_ALPHABET.length)
  }
  return prefix + suffix
}
