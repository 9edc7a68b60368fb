/** Keeps an access key and a token valid for as long as the job runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LockError, withLock } from '../../../core/src/lock.ts'
import { FEW, withAttempts } from '../api/attempts.ts'
import { type AccessKey, exchange } from '../api/exchange.ts'
import { getIdToken } from '../api/idtoken.ts'
import { requestToken, type Token } from '../api/token.ts'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import { type Held, type Life, lockFile, readHeld, recordExchanged, type Session, writeHeld } from './session.ts'

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

/** Exchanges a new ID token for an access key, with one attempt more for each passing failure, up to `most`. */
export const exchangeAnew = (
  folder: string,
  { credential = '', scope, audience, ...api }: Session,
  { env, log }: Surroundings,
  most?: number,
): Promise<AccessKey> =>
  withAttempts(
    async () => {
      const { certificateAuthority } = api
      const idToken = await getIdToken({ env, audience, ...(certificateAuthority && { certificateAuthority }) }, log)
      const made = await exchange(api, { credential, idToken, ...(scope && { scope }) }, log)
      recordExchanged(folder, made)
      return made
    },
    log.info,
    most,
  )

/** Returns the token of the folder's target, a new one if the last is about to expire. Falls back to a valid one only if no answer came. */
export async function currentToken(folder: string, session: Session, surroundings: Surroundings): Promise<Token> {
  const known = tokenOf(readHeld(folder))
  if (known && isFresh(known.life)) return known
  return oneAtATime(folder, async () => {
    const held = readHeld(folder)
    const last = tokenOf(held)
    if (last && isFresh(last.life)) return last
    const { key, keyLife } = await renewedKey(folder, session, held, surroundings)
    const { target, ttl } = session
    if (target.type === 'management') return { token: key, ...(keyLife && { expires: keyLife.until }) }
    const { log } = surroundings
    return unlessUnanswered(last, log, async () => {
      const seconds = () => ttl ?? secondsWithin(keyLife, RENEWED_SECONDS)
      const asked = () => requestToken(session, key, { target, seconds: seconds() }, log)
      const made = await withAttempts(asked, log.info, isUsable(last) ? FEW : undefined)
      const tokenLife = made.expires === undefined ? undefined : { from: Date.now(), until: made.expires }
      writeHeld(folder, { key, ...(keyLife && { keyLife }), token: made.token, ...(tokenLife && { tokenLife }) })
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
async function renewedKey(folder: string, session: Session, held: Held, surroundings: Surroundings): Promise<Held> {
  const { keyLife } = held
  if (!keyLife || isFresh(keyLife)) return held
  return unlessUnanswered<Held>({ ...held, life: keyLife }, surroundings.log, async () => {
    const from = Date.now()
    const { key, expires } = await exchangeAnew(
      folder,
      session,
      surroundings,
      isUsable({ life: keyLife }) ? FEW : undefined,
    )
    // The last token stays until there is another.
    const renewed = { ...held, key, keyLife: { from, until: expires } }
    writeHeld(folder, renewed)
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
function tokenOf({ token, tokenLife }: Held): (Token & { life: Life }) | undefined {
  return token !== undefined && tokenLife ? { token, expires: tokenLife.until, life: tokenLife } : undefined
}

const isUsable = (last: { life: Life } | undefined): boolean => last !== undefined && last.life.until > Date.now()

const isFresh = ({ from, until }: Life): boolean => Date.now() < from + (until - from) * RENEWED_AT
