/**
 * Answers an exchange with the token of one cluster or virtual cluster. The token belongs to a key like that of any exchange, but
 * nobody has the key (lib/keys/credential/targetkeys.ts). It is signed, then the key is stored, then the token is answered: no
 * token leaves whose key does not exist, and a failed signature uses up no ID token. An equal exchange during the life of the ID
 * token signs another token for the key of the first one, and writes nothing. A cluster whose service accounts issue the tokens is
 * asked after the key is stored: what ends the key then finds the Secret of the token.
 */

import { formatPlace } from '../../access/scopes/place.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { describeError } from '../../engine/meta/errors/describe.ts'
import { credentialChanged, StatusError } from '../../engine/meta/errors/status.ts'
import { HOUR_SECONDS } from '../../engine/meta/value/durations.ts'
import type { Creation } from '../../engine/registry/create.ts'
import { deleteObject } from '../../engine/registry/delete.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import type { Companion, Stored } from '../../engine/storage/interface.ts'
import {
  type Credential,
  credentialItemKey,
  credentialOf,
  credentialUser,
  readCredential,
} from '../../keys/credential/credential.ts'
import { endOfGates, findClosedGate, gateKeys, requireOpenGates } from '../../keys/credential/gates.ts'
import { decodeKeyInternal, type TargetOfKey } from '../../keys/credential/keyinternal.ts'
import { expiryOf, keyStatus, lifeOfStored } from '../../keys/credential/keystatus.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { endedTarget, targetCredential } from '../../keys/credential/targetkeys.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import type { KeyIntent } from '../../keys/ownedaccesskey.values.ts'
import { admit, confirmedBefore } from '../../keys/requests/admit.ts'
import { replayId } from '../idtoken.ts'
import type { TokenUse } from '../issuers.ts'
import { type OAuthCall, writeContext } from '../oauth/call.ts'
import { endedBefore, notAccepted, OAuthError } from '../oauth/oautherror.ts'
import { type IssuedToken, type OpenTarget, openTarget } from './clustertoken.ts'
import type { Exchanged } from './exchangedkey.ts'
import type { ExchangeServer } from './exchangeserver.ts'
import { type Answered, type Making, makeKey } from './makekey.ts'
import { type Reads, type Records, recordsDuringLife, recordsUntilReturned } from './records.ts'
import { giveBack, keptUntil } from './replay.ts'
import type { Target } from './target.ts'
import type { TokenForm } from './tokenform.ts'

/** The longest life of a token in seconds. A job that needs more time exchanges another ID token. */
const MOST_SECONDS = HOUR_SECONDS

/** Exchanges of one token at the same time may choose the same slot, or find the key of each other. */
const MOST_ATTEMPTS = 20

interface Asked extends Pick<Making<unknown>, 'isDryRun' | 'announce'> {
  use: TokenUse
  /** The scope as it was sent. */
  scopeText?: string | undefined
  target: OpenTarget
}

/** Opens the target, and answers the exchange with a token for it. */
export async function exchangeForTarget(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { target, form, ...asked }: Omit<Asked, 'target'> & { target: Target; form: TokenForm },
): Promise<Answered> {
  return exchangeForToken(server, call, exchanged, { ...asked, target: await openTarget(server, call, target, form) })
}

/**
 * Returns the token. Throws invalid_target if the key may not have it, and invalid_request if the ID token was exchanged before, as often
 * as it may be, or for a key that was ended since.
 */
export async function exchangeForToken(
  server: ExchangeServer,
  call: OAuthCall,
  { grant: wide, ...identified }: Exchanged,
  asked: Asked,
): Promise<Answered> {
  const ttl = Math.min(wide.ttl, MOST_SECONDS, server.config.maxTokenTtlSeconds)
  const exchanged = { ...identified, grant: { ...wide, ttl } }
  if (asked.use === 'Once') return makeToken(server, call, exchanged, asked, hashOf(exchanged, asked, 0))
  // A key serves equal exchanges while half of its life is left, and as long as the shortest token lives. It is found by the period in
  // which it was made, or by the one after it.
  const serving = Math.max(1, Math.min(Math.ceil(ttl / 2), ttl - asked.target.leastSeconds))
  const period = Math.floor((unixSeconds(call.now) - exchanged.token.issuedAt) / serving)
  const [credential, before] = [period, period - 1].map((one) => hashOf(exchanged, asked, one)) as [KeyHash, KeyHash]
  for (let tries = 1; ; tries++) {
    const found = await findKey(server, exchanged, asked.target, { hashes: [before, credential], serving }, call.now)
    if (found) return answerFor(server, call, found, asked)
    try {
      return await makeToken(server, call, exchanged, asked, credential)
    } catch (error) {
      const isLost = error instanceof StorageError && error.code === 'CompanionExists'
      if (!isLost || tries === MOST_ATTEMPTS) throw error
    }
  }
}

/** Returns where the credential of the exchange is stored: equal exchanges agree in all of this. */
const hashOf = (
  { token, trust, provider, mapped, grant }: Exchanged,
  { target, scopeText }: Asked,
  period: number,
): KeyHash =>
  targetCredential([
    replayId(token),
    [trust.uid, trust.revision],
    [provider.uid, provider.revision],
    formatPlace(target.place),
    scopeText ?? null,
    mapped ?? null,
    grant.ttl,
    period,
  ])

const targetOf = ({ token }: Exchanged, { place }: OpenTarget): TargetOfKey => ({
  place: formatPlace(place),
  token: replayId(token),
  until: keptUntil(token),
})

interface FoundKey {
  user: UserInfo
  /** Unix seconds. */
  expires: number
}

/**
 * Returns the key of an equal exchange that gives access, and was made at most `serving` seconds ago: one read. Throws invalid_request
 * if somebody has ended a key of this ID token for this trust and target.
 */
async function findKey(
  server: ExchangeServer,
  exchanged: Exchanged,
  target: OpenTarget,
  { hashes, serving }: { hashes: readonly KeyHash[]; serving: number },
  now: Date,
): Promise<FoundKey | undefined> {
  const { trust, provider } = exchanged
  const [ended, ...others] = await server.storage.getCompanions([
    endedTarget(trust.uid, targetOf(exchanged, target)),
    ...gateKeys({ trust, provider }),
    ...hashes.map(credentialItemKey),
  ])
  if (ended) throw endedBefore()
  const [gates, items] = [others.slice(0, 2), others.slice(2)]
  const seconds = unixSeconds(now)
  for (const [index, hash] of hashes.entries()) {
    const item = items[index]
    if (item === undefined) continue
    const credential = readCredential(item.attributes)
    const { state, expires = 0 } = keyStatus(credential, seconds, server.limits)
    if (seconds - credential.created > serving) continue
    if (state !== 'Active' || endOfGates(gates) >= credential.created) throw endedBefore()
    const closed = credential.federation && findClosedGate(credential.federation, gates)
    if (closed !== undefined) throw notAccepted('client_disabled')
    return { user: userOf(credential, expires, hash), expires }
  }
  return undefined
}

/** Returns the user of the key, as if it had been presented: tokens of service accounts are judged by it again. */
const userOf = (credential: Credential, expires: number, { version, hash }: KeyHash): UserInfo => ({
  ...credentialUser(credential, { expires }),
  credential: { version, hash, created: credential.created },
})

/** Answers with a token for a key that exists. */
async function answerFor(server: ExchangeServer, call: OAuthCall, found: FoundKey, asked: Asked): Promise<Answered> {
  const { name, uid } = found.user.key
  call.note({ name, uid })
  const issue = await prepare(server, call, found, asked)
  return { name, uid, expires: found.expires, ...(!asked.isDryRun && { issued: await issue() }) }
}

/** Checks that the key may have the token, and counts its signature. Returns what makes the token. */
async function prepare(
  server: ExchangeServer,
  { now }: OAuthCall,
  { user, expires }: FoundKey,
  { target, isDryRun }: Asked,
): Promise<() => Promise<IssuedToken>> {
  const seconds = unixSeconds(now)
  const issue = await target.prepare(user, Math.min(expires - seconds, MOST_SECONDS))
  if (!isDryRun) server.signatures.count(user.key.uid, seconds)
  return issue
}

/** Reports whether an exchange gave nothing because of the cluster: it failed, or lacks the account of the user. */
const isOfCluster = (error: unknown): boolean =>
  error instanceof OAuthError && ['cluster', 'target'].includes(error.reason)

/**
 * Removes a key without a token, and gives its ID token back, unless something has ended the key meanwhile: its key, its trust, its
 * provider or the exchange for this target. A failure leaves both: nobody has the key.
 */
async function takeBack(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { name, uid, target }: { name: string; uid: string; target: OpenTarget },
): Promise<void> {
  const { token, trust, provider } = exchanged
  try {
    const returned = await giveBack(server.storage, token, trust, name)
    const nothingEnded: Companion[] = [
      { op: 'absent', ...endedTarget(trust.uid, targetOf(exchanged, target)) },
      ...requireOpenGates({ trust, provider, run: '' }),
    ]
    const intent: KeyIntent = { type: 'takeBack', items: () => (returned ? [returned, ...nothingEnded] : []) }
    const check = (live: Stored) => {
      if (keyStatus(lifeOfStored(live), unixSeconds(call.now), server.limits).state !== 'Active')
        throw credentialChanged()
    }
    const options = { preconditions: { uid }, propagationPolicy: 'Background' as const, intent, check }
    await deleteObject(server.storeOf(OwnedAccessKey), { namespace: '', name }, options, writeContext(call))
  } catch (error) {
    const isEnded = error instanceof StatusError && error.status.code < 500
    if (!isEnded) server.log('error', 'key without a token not removed', { name, uid, error: describeError(error) })
  }
}

/** Makes the key. Its token is signed before it is stored, or made by the cluster afterwards. */
async function makeToken(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  asked: Asked,
  credential: KeyHash,
): Promise<Answered> {
  const { use, isDryRun, announce, target } = asked
  const store = server.storeOf(OwnedAccessKey)
  const record = targetOf(exchanged, target)
  const records = use === 'Once' ? recordsUntilReturned(store, exchanged) : recordsOfTarget(store, exchanged, record)
  const sign = async ({ object, internal }: Creation) => {
    const owner = credentialOf(object, decodeKeyInternal(internal))
    const expires = expiryOf(owner, server.limits) ?? 0
    const user = userOf(owner, expires, credential)
    const issue = await prepare(server, call, { user, expires }, asked)
    return { user, expires, issue, issued: isDryRun || target.isLate ? undefined : await issue() }
  }
  const making = { isDryRun, announce, records, target: { credential, record }, sign }
  const { name, uid, signed } = await makeKey(server, call, exchanged, making)
  const { user, expires } = signed
  if (isDryRun) return { name, uid, expires }
  const issued = signed.issued ?? (await issueLate(server, call, exchanged, { ...asked, name, uid }, signed.issue))
  // As a request for the token with an access key would be recorded: the scope needs the entry that allows it.
  await admit({ user }, { attributes: target.request, isRecorded: true }, 'exchange', confirmedBefore(server))
  return { name, uid, expires, issued }
}

/** Has the cluster make the token of a stored key. If it gives none, the ID token that is exchanged once is given back. */
async function issueLate(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { use, ...key }: Pick<Asked, 'use' | 'target'> & { name: string; uid: string },
  issue: () => Promise<IssuedToken>,
): Promise<IssuedToken> {
  try {
    return await issue()
  } catch (error) {
    if (use === 'Once' && isOfCluster(error)) await takeBack(server, call, exchanged, key)
    throw error
  }
}

/** Returns the records of an ID token that is exchanged for tokens of a target during its life. */
const recordsOfTarget = (reads: Reads, exchanged: Exchanged, target: TargetOfKey): Records => ({
  ...recordsDuringLife(reads, exchanged, endedTarget(exchanged.trust.uid, target)),
  // An equal exchange may have made the key: the next attempt finds it.
  explain: (lost) => Promise.reject(lost),
})
