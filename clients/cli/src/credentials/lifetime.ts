/** Decides by the clock what a credential is good for. */

export interface Lifetime {
  /** When the credential arrived, by the clock of this machine, in Unix milliseconds. */
  received: number
  /** Its life from then on. */
  seconds: number
}

/** The life of a credential that is asked for by default. */
export const DEFAULT_TTL = '15m'
/** The part of its life after which a credential is renewed. */
export const RENEWED_AT = 0.8
/** How far another machine with the same home folder may be ahead. A credential from a later time comes from a clock that was wrong. */
const AHEAD_MILLISECONDS = 60_000
/** What is left of a life that is too short for a request. */
const LAST_MILLISECONDS = 5000

/** `fresh`: to be used. `due`: to be renewed, and usable if that fails. `over`: not usable. */
export type Age = 'fresh' | 'due' | 'over'

/** Returns the age of a credential, which is renewed after this part of its life. */
export function ageOf({ received, seconds }: Lifetime, now: Date, renewedAt = RENEWED_AT): Age {
  const passed = now.getTime() - received
  const life = seconds * 1000
  if (passed < -AHEAD_MILLISECONDS || passed >= life - LAST_MILLISECONDS) return 'over'
  return passed < life * renewedAt ? 'fresh' : 'due'
}

/** A renewal before it was due, and how long the next one waits. */
export interface Early {
  /** Unix milliseconds. */
  at: number
  /** In milliseconds. */
  pause: number
}

/** A program that is refused for another reason than its credential asks again and again. */
const SHORTEST_PAUSE = 60_000
const LONGEST_PAUSE = 900_000

/** Reports whether a credential may be renewed before that is due: not soon after the last time. */
export const mayBeEarly = (last: Early | undefined, now: Date): boolean =>
  last === undefined || Math.abs(now.getTime() - last.at) >= last.pause

/** Returns the record of a renewal before it is due: each waits twice as long as the last one, until none was asked for in that time. */
export function earlyNow(last: Early | undefined, now: Date): Early {
  const at = now.getTime()
  const isSeries = last !== undefined && Math.abs(at - last.at) < 2 * last.pause
  return { at, pause: isSeries ? Math.min(2 * last.pause, LONGEST_PAUSE) : SHORTEST_PAUSE }
}

/** Returns how many milliseconds after its arrival a credential is to be renewed. */
export const renewalAfter = ({ seconds }: Lifetime): number => seconds * 1000 * RENEWED_AT

/**
 * Returns the seconds that a credential lives from now on: until its expiry, but no longer than was asked for, in case that the clock of
 * this machine is behind that of the server.
 */
export const secondsLeft = (expires: string | undefined, asked: number, now: Date): number =>
  Math.min(asked, expires === undefined ? asked : Math.floor((Date.parse(expires) - now.getTime()) / 1000))
