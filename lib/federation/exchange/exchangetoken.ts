/**
 * Answers an exchange with the token of a cluster or virtual cluster, or with those of several. They belong to one key like that of any
 * exchange, but nobody has the key (lib/keys/credential/targetkeys.ts). They are signed, then the key is stored, then they are answered: no
 * token leaves whose key does not exist, and a failed signature uses up no ID token. An equal exchange during the life of the ID
 * token signs others for the key of the first one, and writes nothing. Clusters whose service accounts issue the tokens are
 * asked after the key is stored, side by side: what ends the key then finds the Secrets of the tokens. All targets get a token, or none.
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
import type { ItemKey } from '../../engine/storage/keys.ts'
import {
  type Credential,
  credentialItemKey,
  credentialOf,
  credentialUser,
  readCredential,
} from '../../keys/credential/credential.ts'
import { endOfGates, findClosedGate, gateKeys, requireOpenGates } from '../../keys/credential/gates.ts'
import { decodeKeyInternal } from '../../keys/credential/keyinternal.ts'
import { expiryOf, keyStatus, lifeOfStored } from '../../keys/credential/keystatus.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { endedTarget, storedTargets, targetCredential } from '../../keys/credential/targetkeys.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import type { KeyIntent } from '../../keys/ownedaccesskey.values.ts'
import { admit, confirmedBefore } from '../../keys/requests/admit.ts'
import { replayId } from '../idtoken.ts'
import type { TokenUse } from '../issuers.ts'
import { type OAuthCall, writeContext } from '../oauth/call.ts'
import { endedBefore, notAccepted, OAuthError } from '../oauth/oautherror.ts'
import { type OpenTarget, openTargets, type Written, write } from './clustertoken.ts'
import type { Exchanged } from './exchangedkey.ts'
import type { ExchangeServer } from './exchangeserver.ts'
import { type Answered, type Making, makeKey } from './makekey.ts'
import { type Reads, type Records, recordsDuringLife, recordsUntilReturned } from './records.ts'
import { giveBack, keptUntil } from './replay.ts'
import type { Targets } from './target.ts'
import type { TokenForm } from './tokenform.ts'

/** The longest life of a token in seconds. A job that needs more time exchanges another ID token. */
const MOST_SECONDS = HOUR_SECONDS

/** Exchanges of one token at the same time may choose the same slot, or find the key of each other. */
const MOST_ATTEMPTS = 20

interface Asked extends Pick<Making<unknown>, 'isDryRun' | 'announce'> {
  use: TokenUse
  /** The scope as it was sent. */
  scopeText?: string | undefined
  targets: readonly OpenTarget[]
}

/** Opens the targets, and answers the exchange with tokens for them. */
export async function exchangeForTarget(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { targets, form, ...asked }: Omit<Asked, 'targets'> & { targets: Targets; form: TokenForm },
): Promise<Answered> {
  const { scope } = exchanged.trust.spec
  const opened = await openTargets(server, call, targets, { form, scope })
  return exchangeForToken(server, call, exchanged, { ...asked, targets: opened })
}

/**
 * Returns the tokens. Throws invalid_target if the key may not have one of them, and invalid_request if the ID token was exchanged before, as often
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
  const leastSeconds = Math.max(...asked.targets.map((target) => target.leastSeconds))
  // A key serves equal exchanges while half of its life is left, and as long as the shortest token lives. It is found by the period in
  // which it was made, or by the one after it.
  const serving = Math.max(1, Math.min(Math.ceil(ttl / 2), ttl - leastSeconds))
  const period = Math.floor((unixSeconds(call.now) - exchanged.token.issuedAt) / serving)
  const [credential, before] = [period, period - 1].map((one) => hashOf(exchanged, asked, one)) as [KeyHash, KeyHash]
  for (let tries = 1; ; tries++) {
    const found = await findKey(server, exchanged, asked.targets, { hashes: [before, credential], serving }, call.now)
    if (found) return answerFor(server, call, exchanged, { found, asked })
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
  { targets, scopeText }: Asked,
  period: number,
): KeyHash => {
  const { target, targets: places } = recordOf({ token }, targets)
  return targetCredential([
    replayId(token),
    [trust.uid, trust.revision],
    [provider.uid, provider.revision],
    places ?? target.place,
    scopeText ?? null,
    mapped ?? null,
    grant.ttl,
    period,
  ])
}

const placesOf = (targets: readonly OpenTarget[]): string[] => targets.map(({ place }) => formatPlace(place))

const recordOf = ({ token }: Pick<Exchanged, 'token'>, targets: readonly OpenTarget[]) =>
  storedTargets(placesOf(targets), { token: replayId(token), until: keptUntil(token) })

/** Returns the items that say that a target of the ID token was ended. */
const endsOf = ({ trust, token }: Exchanged, targets: readonly OpenTarget[]): ItemKey[] =>
  placesOf(targets).map((place) => endedTarget(trust.uid, { token: replayId(token), place }))

interface FoundKey {
  user: UserInfo
  /** Unix seconds. */
  expires: number
}

/**
 * Returns the key of an equal exchange that gives access, and was made at most `serving` seconds ago: one read. Throws invalid_request
 * if somebody has ended a key of this ID token for this trust and one of the targets.
 */
async function findKey(
  server: ExchangeServer,
  exchanged: Exchanged,
  targets: readonly OpenTarget[],
  { hashes, serving }: { hashes: readonly KeyHash[]; serving: number },
  now: Date,
): Promise<FoundKey | undefined> {
  const { trust, provider } = exchanged
  const ends = endsOf(exchanged, targets)
  const found = await server.storage.getCompanions([
    ...gateKeys({ trust, provider }),
    ...hashes.map(credentialItemKey),
    ...ends,
  ])
  const [gates, items] = [found.slice(0, 2), found.slice(2, 2 + hashes.length)]
  if (found.slice(-ends.length).some((end) => end !== undefined)) throw endedBefore()
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

/** Answers with tokens for a key that exists. */
async function answerFor(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { found, asked }: { found: FoundKey; asked: Asked },
): Promise<Answered> {
  const { name, uid } = found.user.key
  call.note({ name, uid })
  const prepared = await prepare(server, call, found, asked)
  if (asked.isDryRun) return { name, uid, expires: found.expires }
  const signed = await signEarly(prepared)
  return { name, uid, expires: found.expires, issued: await complete(server, exchanged, asked, signed) }
}

/** The tokens of the targets, in their order: those that are signed, and what makes those that clusters issue. */
type Signed = readonly (Token | (() => Promise<Token>))[]
type Token = Awaited<ReturnType<Awaited<ReturnType<OpenTarget['prepare']>>>>

type Prepared = readonly { isLate: boolean; issue: () => Promise<Token> }[]

/** Checks that the key may have the tokens, and counts their signatures. Returns what makes them. */
async function prepare(
  server: ExchangeServer,
  { now }: OAuthCall,
  { user, expires }: FoundKey,
  { targets, isDryRun }: Asked,
): Promise<Prepared> {
  const seconds = unixSeconds(now)
  // All first: what a kind says about one target is only for who may use all of them.
  const checks = await Promise.allSettled(targets.map((target) => target.check(user)))
  for (const check of checks) if (check.status === 'rejected') throw check.reason
  if (targets.filter(({ isLate }) => isLate).length > MOST_LATE) throw tooManyLate()
  const issues = await Promise.all(
    targets.map((target) => target.prepare(user, Math.min(expires - seconds, MOST_SECONDS))),
  )
  if (!isDryRun) for (const place of placesOf(targets)) server.signatures.count(`${user.key.uid} ${place}`, seconds)
  return targets.map(({ isLate }, index) => ({ isLate, issue: issues[index] as () => Promise<Token> }))
}

/** The most clusters that are asked for tokens side by side: each may take as long as the request. */
const MOST_LATE = 5

const tooManyLate = (): OAuthError => {
  const why = `service accounts issue the tokens of more than ${MOST_LATE} of these targets: ask for at most ${MOST_LATE} of them at once`
  return new OAuthError('invalid_target', 'target', why)
}

/** Signs the tokens that this service issues. */
const signEarly = (prepared: Prepared): Promise<Signed> =>
  Promise.all(prepared.map(({ isLate, issue }) => (isLate ? issue : issue())))

/**
 * Has the clusters issue the others, side by side, and returns them all. Of several failures, it throws the first one, when all clusters
 * have answered: so nothing is made for a key that is removed because of it. A token of a target that was ended meanwhile is not answered.
 */
async function complete(
  { storage }: Pick<ExchangeServer, 'storage'>,
  exchanged: Exchanged,
  { targets }: Pick<Asked, 'targets'>,
  signed: Signed,
): Promise<Written> {
  const issued = await Promise.allSettled(signed.map((one) => (typeof one === 'function' ? one() : one)))
  const failed = issued.filter((one) => one.status === 'rejected')
  const failure = failed.find(({ reason }) => !isOfCluster(reason)) ?? failed[0]
  if (failure) throw failure.reason
  if (targets.length > 1 && targets.some(({ isLate }) => isLate)) {
    const ends = await storage.getCompanions(endsOf(exchanged, targets))
    if (ends.some((end) => end !== undefined)) throw endedBefore()
  }
  return write(issued.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
}

/** Reports whether an exchange gave nothing because of the cluster: it failed, or lacks the account of the user. */
const isOfCluster = (error: unknown): boolean =>
  error instanceof OAuthError && ['cluster', 'target'].includes(error.reason)

/**
 * Removes a key without a token, and gives its ID token back, unless something has ended the key meanwhile: its key, its trust, its
 * provider or the exchange for one of its targets. A failure leaves both: nobody has the key.
 */
async function takeBack(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { name, uid, targets }: { name: string; uid: string; targets: readonly OpenTarget[] },
): Promise<void> {
  const { token, trust, provider } = exchanged
  try {
    const returned = await giveBack(server.storage, token, trust, name)
    const nothingEnded: Companion[] = [
      ...endsOf(exchanged, targets).map((end) => ({ op: 'absent' as const, ...end })),
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

/** Makes the key. Its tokens are signed before it is stored, or made by their clusters afterwards. */
async function makeToken(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  asked: Asked,
  credential: KeyHash,
): Promise<Answered> {
  const { use, isDryRun, announce, targets } = asked
  const store = server.storeOf(OwnedAccessKey)
  const records = use === 'Once' ? recordsUntilReturned(store, exchanged) : recordsOfTargets(store, exchanged, targets)
  const sign = async ({ object, internal }: Creation) => {
    const owner = credentialOf(object, decodeKeyInternal(internal))
    const expires = expiryOf(owner, server.limits) ?? 0
    const user = userOf(owner, expires, credential)
    const prepared = await prepare(server, call, { user, expires }, asked)
    return { user, expires, tokens: isDryRun ? [] : await signEarly(prepared) }
  }
  const making = { isDryRun, announce, records, target: { credential, record: recordOf(exchanged, targets) }, sign }
  const { name, uid, signed } = await makeKey(server, call, exchanged, making)
  const { user, expires, tokens } = signed
  if (isDryRun) return { name, uid, expires }
  const issued = await completeNew(server, call, exchanged, { ...asked, name, uid, tokens })
  // As requests for the tokens with an access key would be recorded: the scope needs the entries that allow them.
  await Promise.all(
    targets.map(({ request }) =>
      admit({ user }, { attributes: request, isRecorded: true }, 'exchange', confirmedBefore(server)),
    ),
  )
  return { name, uid, expires, issued }
}

/** Completes the tokens of a stored key. If a cluster gives none, the ID token that is exchanged once is given back. */
async function completeNew(
  server: ExchangeServer,
  call: OAuthCall,
  exchanged: Exchanged,
  { use, tokens, ...key }: Pick<Asked, 'use' | 'targets'> & { name: string; uid: string; tokens: Signed },
): Promise<Written> {
  try {
    return await complete(server, exchanged, key, tokens)
  } catch (error) {
    if (use === 'Once' && isOfCluster(error)) await takeBack(server, call, exchanged, key)
    throw error
  }
}

/** Returns the records of an ID token that is exchanged for tokens of targets during its life. */
const recordsOfTargets = (reads: Reads, exchanged: Exchanged, targets: readonly OpenTarget[]): Records => ({
  ...recordsDuringLife(reads, exchanged, endsOf(exchanged, targets)),
  // An equal exchange may have made the key: the next attempt finds it.
  explain: (lost) => Promise.reject(lost),
})
