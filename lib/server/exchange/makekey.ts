/** Stores the access key of an exchange, in one transaction with the record of its ID token. */

import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import { type KeyIntent, keyPath } from '../../apis/management/v1/ownedaccesskey.values.ts'
import type { TargetOfKey } from '../../authentication/keyinternal.ts'
import type { KeyHash } from '../../authentication/pepper.ts'
import { endedTarget, endedTargets } from '../../authentication/targetkeys.ts'
import { hasReviews } from '../../authorization/scopes/roles.ts'
import { rulesOf } from '../../federation/catalogue.ts'
import { replayId } from '../../federation/idtoken.ts'
import type { TokenUse } from '../../federation/issuers.ts'
import { runOf } from '../../federation/run.ts'
import { unixSeconds } from '../../meta/encoding/time.ts'
import { StatusError } from '../../meta/errors/status.ts'
import { beginCreate } from '../../registry/create.ts'
import type { Draft } from '../../registry/kind.ts'
import type { Outcome } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { Companion, Storage } from '../../storage/interface.ts'
import type { ItemKey } from '../../storage/keys.ts'
import { getCompanion } from '../../storage/readcompanions.ts'
import { type OAuthCall, writeContext } from '../oauth/endpoint.ts'
import { endedBefore } from '../oauth/oautherror.ts'
import type { Server } from '../server.ts'
import { type Exchanged, exchangedKeyName, exchangedKeyObject, labelsOf } from './exchangedkey.ts'
import { checkUnused, partitionOf, recordAgain, replayed, replayRecord } from './replay.ts'
import { findSlot, poolOfToken, poolOfTrust, takeSlot } from './slots.ts'

/**
 * Names have 60 random bits, so that a second attempt is practically never needed for them. Exchanges of one token at the same
 * time may choose the same slot.
 */
const maxAttempts = 20

/** A key that was stored, or that a dry run would have stored. */
interface MadeKey {
  name: string
  uid: string
  /** The value. Absent for a key with a target. */
  key?: string
  expires: Date
}

/** What a key is for that nobody is to have. */
interface KeyOfTarget {
  /** Where its credential is stored. */
  credential: KeyHash
  record: TargetOfKey
  /** Signs the token of the key before it is written. It is called again after a lost race, and for another uid. */
  sign(key: Pick<Draft, 'object' | 'internal'>): Promise<void>
}

export interface Making {
  use: TokenUse
  isDryRun: boolean
  target?: KeyOfTarget
  /** Called with the name of a key before it is written: it may be written although the store does not answer. */
  announce(key: { name: string; uid: string }): void
}

/** Creates the key. Throws invalid_request if the token has been exchanged already, or as often as it may be. */
export async function makeKey(
  server: Pick<Server, 'storeOf' | 'storage'>,
  call: Pick<OAuthCall, 'now' | 'deadline'>,
  exchanged: Exchanged,
  making: Making,
): Promise<MadeKey> {
  const { randomInt, uuid } = server.storeOf(OwnedAccessKey)
  const choose = () => ({ name: exchangedKeyName(exchanged.trust.name, randomInt), uid: uuid() })
  let chosen = choose()
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(server, call, exchanged, making, chosen)
    } catch (error) {
      const isRecorded = error instanceof StorageError && error.code === 'CompanionExists'
      // With a target, the next attempt reads the record, which may be of a token that was given back.
      if (isRecorded && making.use === 'Once' && !making.target) {
        // Without maxKeys, only the record of the token can exist.
        if (exchanged.trust.spec.maxKeys === undefined) throw replayed()
        await checkUnused(server.storage, exchanged.token)
      }
      if (isRecorded && making.use === 'Lifetime' && !making.target) await checkNotEnded(server.storage, exchanged)
      const isTaken = error instanceof StatusError && error.status.reason === 'AlreadyExists'
      // An equal exchange may have made the key of the target.
      const isOver = isRecorded && making.use === 'Lifetime' && making.target !== undefined
      if (!(isTaken || isRecorded) || isOver || tries === maxAttempts) throw error
      if (isTaken) chosen = choose()
    }
  }
}

/** Throws invalid_request if a key of this ID token and trust was ended. The write of the key checks it too; this serves dry runs. */
export async function checkNotEnded(storage: Pick<Storage, 'getCompanions'>, exchanged: Exchanged): Promise<void> {
  if (await getCompanion(storage, endOf(exchanged, undefined))) throw endedBefore()
}

/** Returns the item that is there if a key of this ID token and trust was ended that could get to the target, or to any without one. */
const endOf = ({ trust, token }: Exchanged, target: KeyOfTarget | undefined): ItemKey =>
  target ? endedTarget(trust.uid, target.record) : endedTargets(trust.uid, replayId(token))

async function attempt(
  server: Pick<Server, 'storeOf' | 'storage'>,
  call: Pick<OAuthCall, 'now' | 'deadline'>,
  exchanged: Exchanged,
  { use, isDryRun, target, announce }: Making,
  { name, uid }: { name: string; uid: string },
): Promise<MadeKey> {
  const { trust, provider, token, grant, mapped } = exchanged
  const store = server.storeOf(OwnedAccessKey)
  const at = unixSeconds(call.now)
  const { maxKeys } = trust.spec
  const pools = [
    ...(use === 'Lifetime' ? [poolOfToken(partitionOf(token), trust.uid)] : []),
    ...(maxKeys === undefined ? [] : [poolOfTrust(trust.uid, maxKeys)]),
  ]
  const recordsOf = async (credential: KeyHash): Promise<Companion[]> => {
    const deps = { storage: server.storage, randomInt: store.randomInt }
    const slots = await Promise.all(pools.map((pool) => findSlot(deps, pool, call.now)))
    const taken = slots.map((slot) => takeSlot(slot, trust.uid, { name, uid, expires, credential }))
    // A token that is exchanged once gives no other key, whatever becomes of this one.
    if (use === 'Once' && target) return [await recordAgain(server.storage, token, trust, name), ...taken]
    if (use === 'Once') return [replayRecord(token, trust, name), ...taken]
    return [...taken, { op: 'absent', ...endOf(exchanged, target) }]
  }
  const expires = at + grant.ttl
  const intent: KeyIntent = {
    type: 'exchange',
    labels: labelsOf(trust.name, provider.name),
    origin: {
      creator: trust.creator,
      carried: grant.carried,
      ...(trust.reviewScope && hasReviews(grant.scope) && { reviewScope: trust.reviewScope }),
      federation: {
        trust: { uid: trust.uid, revision: trust.revision },
        provider: { uid: provider.uid, revision: provider.revision },
        run: runOf(token, rulesOf(provider.spec)),
      },
      // An ID token may be exchanged long after the sign-in. auth_time is older still, where one sign-in serves many applications.
      ...(mapped && { signedIn: Math.min(at, token.issuedAt) }),
      ...(target && { target: target.record }),
    },
    ...(target && { credential: target.credential }),
    records: recordsOf,
  }
  const creation = await beginCreate(
    { ...store, uuid: () => uid },
    { object: exchangedKeyObject(name, exchanged), secrets: [], intent },
    { ...writeContext(call), dryRun: isDryRun },
  )
  if (!isDryRun) announce({ name, uid })
  await target?.sign(creation)
  const outcome = await creation.commit()
  return { name, uid, ...(!target && { key: keyOf(outcome) }), expires: new Date(expires * 1000) }
}

/** Returns the value of the key, which is in no read of the object. */
function keyOf({ reveal }: Outcome): string {
  const value = reveal?.find(({ path }) => path.join('.') === keyPath.join('.'))?.value
  if (typeof value !== 'string') throw new Error('the create of a key revealed no key')
  return value
}
