/** Shows access keys and asks before they end, for commands with several names. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { asKey, keyPath } from '../../api/keys.ts'
import { readSelf } from '../../api/self.ts'
import type { Session } from '../../api/session.ts'
import type { Io } from '../../io/io.ts'
import { agreed } from '../../output/confirm.ts'
import { plain } from '../../output/plain.ts'
import { ago } from '../../output/times.ts'

interface Question {
  /** Lets the server check what is to be done with a key, and warn of it. */
  attempt(key: AccessKey): Promise<JsonObject>
  /** Asks about one key, or about as many as `keys` says. */
  question(keys: string): string
}

/**
 * Shows the keys with the warnings of the server, and asks. Returns their uids by name, so that a key that took a name meanwhile stays as it
 * is; undefined if the answer is no.
 */
export async function askedKeys(
  io: Io,
  session: Session,
  names: readonly string[],
  { attempt, question }: Question,
): Promise<Map<string, string> | undefined> {
  const own = (await readSelf(session)).status.uid
  const keys: AccessKey[] = []
  for (const name of names) keys.push(asKey(await session.get(keyPath(name))))
  for (const key of keys) {
    const { metadata, spec, status } = key
    const words = [`of ${status?.owner ?? 'nobody'}`, `last used ${ago(status?.lastActivity, io.now())}`]
    if (spec?.displayName) words.unshift(`"${spec.displayName}"`)
    if (metadata.uid === own) words.push('the key that you use now')
    io.err(`  ${plain(`${metadata.name}: ${words.join(', ')}`)}\n`)
  }
  for (const key of keys) await attempt(key)
  const isAgreed = await agreed(io, question(keys.length === 1 ? 'this key' : `these ${keys.length} keys`))
  return isAgreed ? new Map(keys.map(({ metadata: { name, uid } }) => [name, uid])) : undefined
}
