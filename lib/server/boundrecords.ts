/** Keeps the records of the Secrets to which tokens of service accounts are bound, in the table. */

import type { UserInfo } from '../access/users/user.ts'
import { type BoundRecords, keyUidIn } from '../clusters/boundtokens.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import { StorageError } from '../engine/storage/errors.ts'
import type { CommitOptions, CompanionItem } from '../engine/storage/interface.ts'
import type { ItemKey } from '../engine/storage/keys.ts'
import { companionPages, getCompanion } from '../engine/storage/readcompanions.ts'
import {
  type Bound,
  boundItem,
  boundKey,
  boundPartition,
  endingItem,
  isPlaceDue,
  placeItem,
  placeOf,
  type Recorded,
  type RecordKey,
  readBound,
  slotOf,
} from '../keys/credential/boundsecrets.ts'
import { credentialItemKey } from '../keys/credential/credential.ts'
import { gateKeys } from '../keys/credential/gates.ts'
import { REQUEST_SECONDS } from '../keys/credential/keystatus.ts'
import { type JudgeDeps, judge } from '../keys/values/judge.ts'
import type { AuthenticatingServer } from './authenticating.ts'
import { judgeDeps } from './authentication.ts'

/** A writer of a record that others write as well. They write rarely. */
const ATTEMPTS = 5
/** Every write of a record is short, and a request that gives one up may be late. */
const WRITE_MS = 5000

const keyOf = ({ uid, place, slot }: RecordKey): ItemKey => boundKey(uid, place, slot)

interface Judging {
  /** Returns a key that gives access. */
  livingKey(key: { name: string; uid: string }): Promise<unknown>
}

export function boundRecords(
  server: Pick<AuthenticatingServer, 'storage' | 'limits' | 'now' | 'elapsed'> & Judging,
): BoundRecords {
  const { storage, now, elapsed } = server
  const noted = new Map<string, number>()
  const deadline = () => {
    const start = elapsed()
    return () => WRITE_MS - (elapsed() - start)
  }
  const options = () => ({ deadline: deadline() })
  return {
    async create(key, bound, instead) {
      await notePlace(key.place, options())
      const when = instead ? { is: instead.item } : ('absent' as const)
      // Looked at when the request is over: it may have died.
      const item = boundItem(keyOf(key), bound, bound.since + 2 * REQUEST_SECONDS)
      return recordedIn(key, await storage.writeCompanion({ ...item, when }, options()))
    },
    async judge(user, key) {
      const { credential, federation } = user
      const keys = [
        keyOf(key),
        ...(credential ? [credentialItemKey(credential)] : []),
        ...(federation ? gateKeys(federation) : []),
      ]
      const items = await storage.getCompanions(keys)
      const [item] = items
      const found = (wanted: ItemKey) => items.find((one) => one?.pk === wanted.pk && one.sk === wanted.sk)
      return { problem: await hasProblem(user, found, server), found: recordedIn(key, item) }
    },
    async identify({ bound, item }, secretUid) {
      const next = boundItem(item, { ...bound, secretUid }, bound.expiry ?? bound.since)
      return (await storage.writeCompanion({ ...next, when: { is: item } }, options())) !== undefined
    },
    async end(key, isRemoved) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const item = await getCompanion(storage, keyOf(key))
        if (!item || (await endRecord(item, isRemoved))) return
      }
    },
    async findToken({ secret, secretUid }) {
      const uid = keyUidIn(secret)
      if (uid === undefined) return 'unknown'
      let isFormer = false
      for await (const items of companionPages(storage, boundPartition(uid))) {
        for (const item of items) {
          const bound = readBound(item)
          if (bound.secretUid === secretUid && bound.secret === secret)
            return { key: { uid, place: placeOf(item), slot: slotOf(item) }, bound, item }
          isFormer ||= bound.former?.includes(secretUid) === true
        }
      }
      return isFormer ? 'gone' : 'unknown'
    },
    async revoke({ key, item: read }) {
      for (let attempt = 0, item: CompanionItem | undefined = read; item && attempt < ATTEMPTS; attempt++) {
        const { gone, ended } = readBound(item)
        if (gone || ended !== undefined) return false
        if (await endRecord(item, false)) {
          await storage.writeCompanion(endingItem(`key#${key.uid}`, now()), options())
          return true
        }
        item = await getCompanion(storage, item)
      }
      throw new StorageError('Unavailable', 'the record of a bound Secret changes all the time')
    },
  }

  /** Each process notes a place once a day, before its first record there. */
  async function notePlace(place: string, written: CommitOptions): Promise<void> {
    const at = unixSeconds(now())
    const item = placeItem(place, at)
    if (!isPlaceDue(noted.get(place) ?? 0, at)) return
    await storage.writeCompanion(item, written)
    noted.set(place, Number(item.attributes.expires))
  }

  /** Ends a record as it was read. Returns false if it has changed since. */
  async function endRecord(item: CompanionItem, isRemoved: boolean): Promise<boolean> {
    const bound = readBound(item)
    if (bound.gone) return true
    const at = unixSeconds(now())
    const ended: Bound = { ...bound, ended: bound.ended ?? at, ...(isRemoved && { confirmed: true }) }
    const next = boundItem(item, ended, isRemoved ? at + REQUEST_SECONDS : at)
    return (await storage.writeCompanion({ ...next, when: { is: item } }, options())) !== undefined
  }
}

const recordedIn = (key: RecordKey, item: CompanionItem | undefined): Recorded | undefined =>
  item && { key, item, bound: readBound(item) }

type Find = (key: ItemKey) => CompanionItem | undefined

/** Judges the value of the request by items that were read together. Others are read only while a rotation is open. */
async function hasProblem(
  user: UserInfo,
  find: Find,
  server: Pick<AuthenticatingServer, 'storage' | 'limits'> & Judging,
): Promise<boolean> {
  const { key, credential } = user
  if (credential === undefined) return (await server.livingKey(key)) === undefined
  const deps = judgeDeps(server)
  const readGates: JudgeDeps['readGates'] = async (keys) => keys.map(find)
  const judged = await judge(credential, find(credentialItemKey(credential))?.attributes, { ...deps, readGates })
  if (!('credential' in judged)) return true
  const { uid, generation } = judged.credential
  return uid !== key.uid || generation !== key.generation
}
