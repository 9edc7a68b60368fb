/** Finds the values of access keys among reported texts. */

import type { CompanionItem } from '../../engine/storage/interface.ts'
import { isWellFormed } from '../../keys/credential/accesskey.ts'
import { credentialItemKey, readCredential } from '../../keys/credential/credential.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { isTombstone, readTombstone } from '../../keys/values/tombstone.ts'
import type { Server } from '../server.ts'

/** A value that a key has or had. */
export interface ReportedValue {
  hash: KeyHash
  /** The name and the uid of the key. */
  name: string
  uid: string
  /** The number of the value, if it is known. */
  value?: number
  /** The value ended and was never used. */
  unused?: boolean
  /** When the value ended, in unix seconds, if it has. */
  ended?: number
  /** A report has ended the value, and its tokens with it. */
  isLeaked: boolean
  /** An exchange of an ID token made the key. */
  isExchanged: boolean
}

/** Returns the distinct texts that have the form of an access key. Supplied keys have no other form than their length. */
export const possibleKeys = (texts: readonly string[]): string[] => [...new Set(texts)].filter(isWellFormed)

/** The most items that one call reads. */
const atOnce = 100

/** Returns which of the texts are values of keys. It reads one item for each text and pepper. */
export async function findValues(
  { storage, hashes }: Pick<Server, 'storage' | 'hashes'>,
  texts: readonly string[],
): Promise<Map<string, ReportedValue>> {
  const candidates: { text: string; hash: KeyHash }[] = []
  for (const text of texts) for (const hash of await hashes(text)) candidates.push({ text, hash })
  const found = new Map<string, ReportedValue>()
  for (let from = 0; from < candidates.length; from += atOnce) {
    const some = candidates.slice(from, from + atOnce)
    const items = await storage.getCompanions(some.map(({ hash }) => credentialItemKey(hash)))
    for (const [index, { text, hash }] of some.entries()) {
      const item = items[index]
      if (item) found.set(text, readValue(hash, item))
    }
  }
  return found
}

export function readValue(hash: KeyHash, { attributes }: Pick<CompanionItem, 'attributes'>): ReportedValue {
  if (isTombstone(attributes)) {
    const { name, uid, at, ended, value, unused = false } = readTombstone(attributes)
    const known = value === undefined ? {} : { value }
    return { hash, name, uid, ...known, unused, ended: at, isLeaked: ended === 'leaked', isExchanged: false }
  }
  const { name, uid, value = 1, federation } = readCredential(attributes)
  return { hash, name, uid, value, isLeaked: false, isExchanged: federation !== undefined }
}
