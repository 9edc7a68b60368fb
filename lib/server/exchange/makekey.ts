/** Stores the access key of an exchange, in one transaction with the record of its ID token. */
import { FederatedIdentityCredential } from '../../apis/management/v1/federation/federatedidentitycredential.ts'
import { exchangedKeyStrategy } from '../../apis/management/v1/ownedaccesskey.exchange.ts'
import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import { keyPath } from '../../apis/management/v1/ownedaccesskey.values.ts'
import type { TokenUse } from '../../federation/catalogue.ts'
import { unixSeconds } from '../../meta/encoding/time.ts'
import { StatusError } from '../../meta/errors/status.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import { createObject } from '../../registry/create.ts'
import type { Outcome } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import { type OAuthCall, writeContext } from '../oauth/endpoint.ts'
import type { Server } from '../server.ts'
import { type Exchanged, exchangedKeyName, exchangedKeyObject } from './exchangedkey.ts'
import { replayed, replayRecord } from './replay.ts'

/** Names have 60 random bits, so that a second attempt is practically never needed. */
const maxNameAttempts = 3

const controller = { apiVersion: groupVersion(FederatedIdentityCredential), kind: FederatedIdentityCredential.kind }

/** A key that was stored, or that a dry run would have stored. */
export interface MadeKey {
  name: string
  uid: string
  key: string
  expires: Date
}

export interface Making {
  use: TokenUse
  isDryRun: boolean
  /** Called with the name of a key before it is written: it may be written although the store does not answer. */
  announce(key: { name: string; uid: string }): void
}

/** Creates the key. Throws invalid_request if the token has been exchanged already. */
export async function makeKey(
  server: Pick<Server, 'storeOf'>,
  call: Pick<OAuthCall, 'now' | 'deadline'>,
  exchanged: Exchanged,
  making: Making,
): Promise<MadeKey> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(server, call, exchanged, making)
    } catch (error) {
      if (error instanceof StorageError && error.code === 'CompanionExists') throw replayed()
      const isTaken = error instanceof StatusError && error.status.reason === 'AlreadyExists'
      if (!isTaken || tries === maxNameAttempts) throw error
    }
  }
}

async function attempt(
  server: Pick<Server, 'storeOf'>,
  call: Pick<OAuthCall, 'now' | 'deadline'>,
  exchanged: Exchanged,
  { use, isDryRun, announce }: Making,
): Promise<MadeKey> {
  const { trust, provider, token, grant } = exchanged
  const store = server.storeOf(OwnedAccessKey)
  const [name, uid] = [exchangedKeyName(trust.name, store.randomInt), store.uuid()]
  const expires = unixSeconds(call.now) + grant.ttl
  const strategy = exchangedKeyStrategy(store.strategy, {
    federation: {
      trust: { uid: trust.uid, revision: trust.revision },
      provider: { uid: provider.uid, revision: provider.revision },
    },
    creator: trust.creator,
    carried: grant.carried,
    companions: [replayRecord(token, trust, use, { name, uid, expires })],
  })
  if (!isDryRun) announce({ name, uid })
  const outcome = await createObject(
    { ...store, strategy, uuid: () => uid },
    { object: exchangedKeyObject(name, exchanged, controller), secrets: [] },
    { ...writeContext(call), dryRun: isDryRun },
  )
  return { name, uid, key: keyOf(outcome), expires: new Date(expires * 1000) }
}

/** Returns the value of the key, which is in no read of the object. */
function keyOf({ draft }: Outcome): string {
  const value = draft?.reveal?.find(({ path }) => path.join('.') === keyPath.join('.'))?.value
  if (typeof value !== 'string') throw new Error('the create of a key revealed no key')
  return value
}
