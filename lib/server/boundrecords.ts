/** Keeps the records of the Secrets to which tokens of service accounts are bound, in the table. */
import { type Bound, boundAttributes, boundKey, goneAttributes, readBound } from '../authentication/boundsecrets.ts'
import { credentialItemKey } from '../authentication/credential.ts'
import { gateKeys } from '../authentication/gates.ts'
import { REQUEST_SECONDS } from '../authentication/keystatus.ts'
import { type JudgeDeps, judge } from '../authentication/values/judge.ts'
import type { UserInfo } from '../authorization/users/user.ts'
import type { BoundRecords, RecordKey } from '../kubeconfig/boundtokens.ts'
import { unixSeconds } from '../meta/encoding/time.ts'
import type { CompanionItem } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import { getCompanion } from '../storage/readcompanions.ts'
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
  const deadline = () => {
    const start = elapsed()
    return () => WRITE_MS - (elapsed() - start)
  }
  return {
    async create(key, bound) {
      // Looked at when the request is over: it may have died.
      const attributes = boundAttributes(bound, bound.since + 2 * REQUEST_SECONDS)
      const item = { ...keyOf(key), attributes, when: 'absent' as const }
      return (await storage.writeCompanion(item, { deadline: deadline() })) !== undefined
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
      return { problem: await hasProblem(user, found, server), bound: item && readBound(item) }
    },
    async giveUp(key, how) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const item = await getCompanion(storage, keyOf(key))
        const bound = item && readBound(item)
        if (!item || !bound || bound.gone) return
        const at = unixSeconds(now())
        const ended: Bound = { ...bound, ended: bound.ended ?? at, ...(how === 'removed' && { confirmed: true }) }
        const due = how === 'removed' ? at + REQUEST_SECONDS : at
        const attributes = how === 'gone' ? goneAttributes(ended, at) : boundAttributes(ended, due)
        const { pk, sk } = item
        if (await storage.writeCompanion({ pk, sk, attributes, when: { is: item } }, { deadline: deadline() })) return
      }
    },
  }
}

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
