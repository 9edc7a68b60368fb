/** Finds the access key in what a person pastes or drops: the key alone, or a kube config or a file of the local server with it. */
import { keysIn } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { isBearer } from '../../../core/src/forms.ts'

/** Returns the key, or undefined for an empty text and for a text with several keys. Keys of another form stand alone. */
export function givenKey(text: string): string | undefined {
  const found = new Set([...keysIn(text)].map(({ key }) => key))
  const [one] = found
  if (found.size > 0) return found.size === 1 ? one : undefined
  // Any other text is not a key, or has an invisible character that was copied with it.
  const alone = text.trim()
  return isBearer(alone) ? alone : undefined
}
