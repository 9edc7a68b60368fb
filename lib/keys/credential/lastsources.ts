/**
 * Remembers from where a key was last used: a few addresses, each with the client that used the key last. They are written
 * together with the last activity, and cost no write of their own.
 *
 *     sources=[{ip=203.0.113.7 userAgent=curl/8.5.0 at=1795257600} …]
 */
import { networkOf } from '../../access/users/sourcecidrs.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import { isCount, isNonEmptyText, isText } from './strictrecord.ts'
import { shortUserAgent } from './useragent.ts'

export interface LastSource {
  ip: string
  /** Empty if the client names none. */
  userAgent: string
  /** Unix seconds. */
  at: number
}

const MAX_SOURCES = 5

/**
 * Returns the list after a use at `at`, the newest first. An address is there once: IPv6 addresses of one /64 network count
 * as one, because clients change them. A source that is not an IP address is not recorded.
 */
export function withSource(
  list: readonly LastSource[],
  { ip, userAgent = '' }: { ip: string; userAgent?: string },
  at: number,
): LastSource[] {
  const network = networkOf(ip)
  if (network === undefined) return [...list]
  const others = list.filter((one) => networkOf(one.ip) !== network)
  return [{ ip, userAgent: shortUserAgent(userAgent), at }, ...others].slice(0, MAX_SOURCES)
}

/**
 * Returns the stored list. People only read it, so what is not in its form counts as nothing, and fails no request.
 */
export const readSources = (value: unknown): LastSource[] =>
  Array.isArray(value) ? value.filter(isSource).slice(0, MAX_SOURCES) : []

const isSource = (value: unknown): value is LastSource =>
  isObject(value) && isNonEmptyText(value.ip) && isText(value.userAgent) && isCount(value.at)

/** Returns the list as an attribute. */
export const storedSources = (list: readonly LastSource[]): JsonObject[] =>
  list.map(({ ip, userAgent, at }) => ({ ip, userAgent, at }))
