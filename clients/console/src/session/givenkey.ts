/** Finds the access key in what a person pastes or drops: the key alone, or a kube config or a file of the local server with it. */

/** An access key as the server makes it (lib/authentication/accesskey.ts). */
const MADE = /\bmpk_[0-9A-Za-z]{49}\b/g

/** What a header can carry, without spaces. Another text is not a key, or has an invisible character that was copied with it. */
const SENDABLE = /^[!-~]+$/

/** Returns the key, or undefined for an empty text and for a text with several keys. Keys of another form stand alone. */
export function givenKey(text: string): string | undefined {
  const found = new Set(text.match(MADE))
  const [one] = found
  if (found.size > 0) return found.size === 1 ? one : undefined
  const alone = text.trim()
  return SENDABLE.test(alone) ? alone : undefined
}
