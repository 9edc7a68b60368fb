/** Says what a key made, from the answer of the server. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import { countText } from '../../keylist/searched.ts'
import type { Answer } from '../../keylist/serversearch.ts'

/** Returns the words of the link to the list, or undefined if there is nothing to list. */
export function madeWords({ keys, more, isKnown }: Answer): string | undefined {
  if (!isKnown) return 'List the keys that it made'
  if (keys.length === 0) return undefined
  return `Made ${countText(keys.length, more)} ${keys.length === 1 ? 'key' : 'keys'}`
}

/** Returns a hint if another key had the name of this one and made keys. */
export function namesakeWords(uid: string, made: readonly AccessKey[]): string | undefined {
  const others = made.filter(({ status }) => status?.madeWith && status.madeWith.uid !== uid).length
  if (others === 0) return undefined
  const were = others === 1 ? '1 key was' : `${others} keys were`
  return `${were} made with an earlier key of this name. “Revoke all that it made” leaves them: list them to revoke them.`
}
