/**
 * Hashes of access keys: HMAC-SHA-256 with a secret pepper, so that a copy of the table gives away no key. Peppers have versions; while
 * one is replaced both are looked under. The secret is JSON: `{"current": "2", "peppers": {"1": BASE64, "2": BASE64}}`.
 */
import { createHmac } from 'node:crypto'
import { isObject } from '../meta/value/walk.ts'

/** What a key is stored under. `hash` is base64url without padding. */
export interface KeyHash {
  version: string
  hash: string
}

export interface PepperDeps {
  /** The secret's text at a stage of Secrets Manager. */
  getSecret(stage: 'AWSCURRENT'): Promise<string>
  /** Milliseconds of a clock. */
  now(): number
}

export interface Peppers {
  /** The hashes under which the key may be stored, the current pepper's first; new keys are stored under that one. */
  hashes(key: string): Promise<KeyHash[]>
}

/** How long a pepper is used without asking again: the longest a rotation takes to arrive. */
const FRESH_MS = 5 * 60_000
/** How long a pepper that cannot be fetched again is used on. */
const STALE_MS = 60 * 60_000
/** After a failed fetch nobody asks again for so long. */
const RETRY_MS = 10_000

const MIN_BYTES = 32
const MAX_VERSIONS = 8

/** Peppers that are fetched when first needed, once for all who wait, and kept for minutes. */
export function createPeppers({ getSecret, now }: PepperDeps): Peppers {
  let kept: { versions: readonly Pepper[]; fetched: number; askAgain: number } | undefined
  let fetching: Promise<readonly Pepper[]> | undefined

  async function fetch(): Promise<readonly Pepper[]> {
    const versions = parsePeppers(await getSecret('AWSCURRENT'))
    kept = { versions, fetched: now(), askAgain: now() + FRESH_MS }
    return versions
  }

  async function current(): Promise<readonly Pepper[]> {
    if (kept !== undefined && now() < kept.askAgain) return kept.versions
    fetching ??= fetch().finally(() => {
      fetching = undefined
    })
    try {
      return await fetching
    } catch (error) {
      if (kept === undefined || now() - kept.fetched >= STALE_MS) throw error
      kept.askAgain = now() + RETRY_MS
      return kept.versions
    }
  }

  return {
    hashes: async (key) => (await current()).map(({ version, pepper }) => ({ version, hash: hmac(pepper, key) })),
  }
}

interface Pepper {
  version: string
  pepper: Buffer
}

const hmac = (pepper: Buffer, key: string): string =>
  createHmac('sha256', pepper).update(key, 'utf8').digest('base64url')

/** The peppers of a secret, current first, then the newest. Throws an Error that says nothing of the secret's content. */
export function parsePeppers(secret: string): readonly Pepper[] {
  const { current, peppers, ...more } = record(parseSecret(secret), 'the pepper secret')
  if (Object.keys(more).length > 0) throw new Error('the pepper secret has other members than current and peppers')
  const entries = Object.entries(record(peppers, 'peppers'))
  if (entries.length > MAX_VERSIONS) throw new Error(`the pepper secret has more than ${MAX_VERSIONS} peppers`)
  const versions = entries
    .map(([version, text]) => ({ version: checkVersion(version), pepper: bytes(text) }))
    .sort(
      (a, b) => Number(b.version === current) - Number(a.version === current) || Number(b.version) - Number(a.version),
    )
  if (typeof current !== 'string' || versions[0]?.version !== current) {
    throw new Error('current of the pepper secret names none of its peppers')
  }
  return versions
}

/** A parser's own error would quote the text. */
function parseSecret(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the pepper secret is not JSON')
  }
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`${what} is not a JSON object`)
  return value
}

function checkVersion(version: string): string {
  if (!/^[1-9][0-9]{0,8}$/.test(version)) throw new Error('a version of the pepper secret is not a positive number')
  return version
}

function bytes(text: unknown): Buffer {
  const pepper = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  if (pepper.toString('base64') !== text) throw new Error('a pepper is not base64')
  if (pepper.length < MIN_BYTES) throw new Error(`a pepper has fewer than ${MIN_BYTES} bytes`)
  return pepper
}
