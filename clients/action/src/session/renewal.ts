/** Keeps an access key and a token valid for as long as the job runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LockError, withLock } from '../../../core/src/files/lock.ts'
import { FEW, withAttempts } from '../api/attempts.ts'
import { exchange, exchangeForKubeConfig, type Given, type Granted } from '../api/exchange.ts'
import { getIdToken } from '../api/idtoken.ts'
import { requestToken, type Token } from '../api/token.ts'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import {
  type HeldKey,
  type HeldToken,
  type Life,
  lockFile,
  readHeld,
  recordExchanged,
  type Session,
  writeHeld,
} from './session.ts'

/** A credential is renewed when a fifth of its life is left. */
const RENEWED_AT = 0.8
/** Lifetime of a token that is renewed, in seconds. */
const RENEWED_SECONDS = 900
/** The shortest lifetime of a token that the API accepts. */
const LEAST_SECONDS = 60
/** Longer than a request may take. */
const REQUEST_SECONDS = 40

/** The variables of the job, and where to report. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  log: Log
}

/** Exchanges a new ID token and records what is granted, with one attempt more for each passing failure, up to `most`. */
const exchangeAnew = <T extends Granted>(
  folder: string,
  session: Session,
  { env, log }: Surroundings,
  exchanging: (given: Given, log: Log) => Promise<T>,
  most?: number,
): Promise<T> =>
  withAttempts(
    async () => {
      const { credential = '', scope, audience, certificateAuthority } = session
      const idToken = await getIdToken({ env, audience, ...(certificateAuthority && { certificateAuthority }) }, log)
      const granted = await exchanging({ credential, idToken, ...(scope && { scope }) }, log)
      recordExchanged(folder, granted)
      return granted
    },
    log.info,
    most,
  )

/** Exchanges a new ID token for an access key. */
export async function newKey(
  folder: string,
  session: Session,
  surroundings: Surroundings,
  most?: number,
): Promise<HeldKey & { keyLife: Life }> {
  const from = Date.now()
  const forKey = (given: Given, log: Log) => exchange(session, given, log)
  const { credential: key, expires } = await exchangeAnew(folder, session, surroundings, forKey, most)
  return { key, keyLife: { from, until: expires } }
}

/** Exchanges a new ID token for a token of the cluster, and keeps that. */
export async function newToken(
  folder: string,
  session: Session,
  surroundings: Surroundings,
  most?: number,
): Promise<Required<Token>> {
  const from = Date.now()
  const { target } = session
  const forToken = (given: Given, log: Log) => exchange(session, { ...given, target }, log)
  return keepToken(folder, from, await exchangeAnew(folder, session, surroundings, forToken, most))
}

/** A kube config with its tokens, and their life. */
export interface Made extends Granted {
  text: string
  life: Life
}

/** Exchanges a new ID token for a kube config of the cluster, or of several, and keeps the first token. */
export async function newKubeConfig(folder: string, session: Session, surroundings: Surroundings): Promise<Made> {
  const from = Date.now()
  const { target } = session
  const forConfig = (given: Given, log: Log) => exchangeForKubeConfig(session, { ...given, target }, log)
  const granted = await exchangeAnew(folder, session, surroundings, forConfig)
  await keepToken(folder, from, granted)
  return { ...granted, life: { from, until: granted.expires } }
}

async function keepToken(
  folder: string,
  from: number,
  { credential: token, expires }: Granted,
): Promise<Required<Token>> {
  await writeHeld(folder, { token, tokenLife: { from, until: expires } })
  return { token, expires }
}

/** Returns the token of the folder's target, a new one if the last is about to expire. Falls back to a valid one only if no answer came. */
export async function currentToken(folder: string, session: Session, surroundings: Surroundings): Promise<Token> {
  const known = tokenOf(readHeld(folder))
  if (known && isFresh(known.life)) return known
  return oneAtATime(folder, async () => {
    const held = readHeld(folder)
    const last = tokenOf(held)
    if (last && isFresh(last.life)) return last
    const { log } = surroundings
    const most = isUsable(last) ? FEW : undefined
    if (!('key' in held)) return unlessUnanswered<Token>(last, log, () => newToken(folder, session, surroundings, most))
    const { key, keyLife } = await renewedKey(folder, session, held, surroundings)
    const { target, ttl } = session
    if (target.type === 'management') return { token: key, ...(keyLife && { expires: keyLife.until }) }
    return unlessUnanswered(last, log, async () => {
      const seconds = () => ttl ?? secondsWithin(keyLife, RENEWED_SECONDS)
      const asked = () => requestToken(session, key, { target, seconds: seconds() }, log)
      const made = await withAttempts(asked, log.info, most)
      const tokenLife = made.expires === undefined ? undefined : { from: Date.now(), until: made.expires }
      await writeHeld(folder, { key, ...(keyLife && { keyLife }), token: made.token, ...(tokenLife && { tokenLife }) })
      return made
    })
  })
}

/** How long a process waits for another one that renews. */
const WAIT_MILLISECONDS = 90_000
/** Longer than a renewal takes, even if no request has an answer. */
const STALE_MILLISECONDS = 600_000

/** Lets one process at a time renew what the folder holds. */
function oneAtATime<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const options = {
    elapsed: () => performance.now(),
    pause: sleep,
    waitMilliseconds: WAIT_MILLISECONDS,
    staleMilliseconds: STALE_MILLISECONDS,
  }
  return withLock(lockFile(folder), options, work).catch((error: unknown) => {
    if (!(error instanceof LockError)) throw error
    throw new Failure(error.isHeld ? 'another process has been renewing the credential for too long' : error.message)
  })
}

/** Returns the access key that the folder holds, or a new one if it came from an exchange and is about to expire. */
async function renewedKey(
  folder: string,
  session: Session,
  held: HeldKey,
  surroundings: Surroundings,
): Promise<HeldKey> {
  const { keyLife } = held
  if (!keyLife || isFresh(keyLife)) return held
  return unlessUnanswered<HeldKey>({ ...held, life: keyLife }, surroundings.log, async () => {
    const most = isUsable({ life: keyLife }) ? FEW : undefined
    // The last token stays until there is another.
    const renewed = { ...held, ...(await newKey(folder, session, surroundings, most)) }
    await writeHeld(folder, renewed)
    return renewed
  })
}

/** Returns what the work returns. If no answer came and the last credential is still valid, returns that. */
async function unlessUnanswered<T>(
  last: (T & { life: Life }) | undefined,
  log: Pick<Log, 'warning'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || !error.isPassing || !last || !isUsable(last)) throw error
    log.warning(`The last credential is used until it expires: ${error.message}`)
    return last
  }
}

/**
 * Returns the usual lifetime of a token in seconds, or what is left of the life of the key after the request: the API would shorten more
 * than that with a warning. Each attempt asks anew.
 */
export function secondsWithin(keyLife: Life | undefined, usual: number): number {
  const left = keyLife ? Math.floor((keyLife.until - Date.now()) / 1000) - REQUEST_SECONDS : usual
  return Math.max(LEAST_SECONDS, Math.min(usual, left))
}

/** Returns the token that the folder has, and its life. */
function tokenOf({ token, tokenLife }: Partial<HeldToken>): (Token & { life: Life }) | undefined {
  return token !== undefined && tokenLife ? { token, expires: tokenLife.until, life: tokenLife } : undefined
}

const isUsable = (last: { life: Life } | undefined): boolean => last !== undefined && last.life.until > Date.now()

const isFresh = ({ from, until }: Life): boolean => Date.now() < from + (until - from) * RENEWED_AT
