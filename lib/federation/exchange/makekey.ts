/** Stores the access key of an exchange, in one transaction with the record of its ID token. */

import { hasReviews } from '../../access/scopes/roles.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { StatusError } from '../../engine/meta/errors/status.ts'
import { beginCreate, type Creation } from '../../engine/registry/create.ts'
import type { Outcome } from '../../engine/registry/store.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { endedTargets, type storedTargets } from '../../keys/credential/targetkeys.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import { type KeyIntent, keyPath } from '../../keys/ownedaccesskey.values.ts'
import { rulesOf } from '../catalogue.ts'
import { replayId } from '../idtoken.ts'
import type { TokenUse } from '../issuers.ts'
import { type OAuthCall, writeContext } from '../oauth/call.ts'
import { runOf } from '../run.ts'
import type { Written } from './clustertoken.ts'
import { type Exchanged, exchangedKeyName, exchangedKeyObject, labelsOf } from './exchangedkey.ts'
import type { ExchangeServer } from './exchangeserver.ts'
import { checkNotEnded, type Records, recordsDuringLife, recordsOnce } from './records.ts'
import { checkUnused } from './replay.ts'

/**
 * Names have 60 random bits, so that a second attempt is practically never needed for them. Exchanges of one token at the same
 * time may choose the same slot.
 */
const maxAttempts = 20

type MakingServer = Pick<ExchangeServer, 'storeOf'>
type MakingCall = Pick<OAuthCall, 'now' | 'deadline'>

export interface Making<Signed> {
  isDryRun: boolean
  records: Records
  /** Called with the name of a key before it is written: it may be written although the store does not answer. */
  announce(key: { name: string; uid: string }): void
  /** The key is one that nobody is to have: where its credential is stored, and what it is for. */
  target?: { credential: KeyHash; record: ReturnType<typeof storedTargets> }
  /** Signs the token of the key, once, before it is written. */
  sign(key: Creation): Promise<Signed>
}

/** A key that was stored, or that a dry run would have stored. */
interface Made<Signed> {
  name: string
  uid: string
  signed: Signed
  outcome: Outcome
}

/** Creates the key. Throws invalid_request if the token has been exchanged already, or as often as it may be. */
export async function makeKey<Signed>(
  server: MakingServer,
  call: MakingCall,
  exchanged: Exchanged,
  making: Making<Signed>,
): Promise<Made<Signed>> {
  const { randomInt, uuid } = server.storeOf(OwnedAccessKey)
  let key: { name: string; uid: string } | undefined
  let signed: Signed | undefined
  for (let tries = 1; ; tries++) {
    key ??= { name: exchangedKeyName(exchanged.trust.name, randomInt), uid: uuid() }
    try {
      const creation = await beginKey(server, call, exchanged, making, key)
      if (!making.isDryRun) making.announce(key)
      signed ??= await making.sign(creation)
      const outcome = await creation.commit()
      return { ...key, signed, outcome }
    } catch (error) {
      const isTaken = error instanceof StatusError && error.status.reason === 'AlreadyExists'
      const isRecorded = error instanceof StorageError && error.code === 'CompanionExists'
      if (isRecorded) await making.records.explain(error)
      if (!(isTaken || isRecorded) || tries === maxAttempts) throw error
      if (isTaken) {
        key = undefined
        signed = undefined
      }
    }
  }
}

/** Plans the key up to its commit. */
function beginKey(
  server: MakingServer,
  call: MakingCall,
  exchanged: Exchanged,
  { isDryRun, records, target }: Pick<Making<unknown>, 'isDryRun' | 'records' | 'target'>,
  { name, uid }: { name: string; uid: string },
): Promise<Creation> {
  const { trust, provider, token, grant, mapped } = exchanged
  const at = unixSeconds(call.now)
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
      ...target?.record,
    },
    ...(target && { credential: target.credential }),
    records: (credential) => records.items({ name, uid, expires: at + grant.ttl, credential }, call.now),
  }
  return beginCreate(
    { ...server.storeOf(OwnedAccessKey), uuid: () => uid },
    { object: exchangedKeyObject(name, exchanged), secrets: [], intent },
    { ...writeContext(call), dryRun: isDryRun },
  )
}

/** What an exchange answers. A dry run makes no token. */
export interface Answered {
  name: string
  uid: string
  /** When the key ends, in Unix seconds. */
  expires: number
  issued?: Written
}

/** Answers an exchange with an access key. Throws invalid_request if the ID token gives none any more. */
export async function exchangeForKey(
  server: MakingServer,
  call: MakingCall,
  exchanged: Exchanged,
  { use, isDryRun, announce }: Pick<Making<unknown>, 'isDryRun' | 'announce'> & { use: TokenUse },
): Promise<Answered> {
  const { trust, token, grant } = exchanged
  const store = server.storeOf(OwnedAccessKey)
  const ends = [endedTargets(trust.uid, replayId(token))]
  if (isDryRun) await (use === 'Once' ? checkUnused(store.storage, token) : checkNotEnded(store, ends))
  const records = use === 'Once' ? recordsOnce(store, exchanged) : recordsDuringLife(store, exchanged, ends)
  const making = { isDryRun, announce, records, sign: async () => null }
  const { name, uid, outcome } = await makeKey(server, call, exchanged, making)
  const issued = { text: keyOf(outcome), warnings: [] }
  return { name, uid, expires: unixSeconds(call.now) + grant.ttl, issued }
}

/** Returns the value of the key, which is in no read of the object. */
function keyOf({ reveal }: Outcome): string {
  const value = reveal?.find(({ path }) => path.join('.') === keyPath.join('.'))?.value
  if (typeof value !== 'string') throw new Error('the create of a key revealed no key')
  return value
}
