/** Reads what access keys did. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import type { KeyUsage } from '../../../core/src/usage.ts'
import type { CallOptions } from './call.ts'
import { asKey, keyPath } from './keys.ts'
import type { Session } from './session.ts'

/** What is known of a key and of its use. */
export interface UsedKey {
  key: AccessKey
  /** The OwnedAccessKeyUsage. */
  object: JsonObject
  usage: KeyUsage
}

/** Returns the usage of a key. Throws a StatusError when the server refuses it. */
export async function readUsage(session: Session, name: string, options?: CallOptions): Promise<Omit<UsedKey, 'key'>> {
  const object = await session.get(`${keyPath(name)}/usage`, options)
  return { object, usage: (object.status ?? {}) as KeyUsage }
}

/** Returns a key with its usage. Throws a StatusError when the server refuses either. */
export async function readUsedKey(session: Session, name: string): Promise<UsedKey> {
  const key = asKey(await session.get(keyPath(name)))
  return { key, ...(await readUsage(session, name)) }
}
