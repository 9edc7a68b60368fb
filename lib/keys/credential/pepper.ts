/**
 * Hashes access keys: HMAC-SHA-256 with a secret pepper, so that a copy of the table reveals no key. Peppers are
 * versioned; during a rotation, keys are looked up under both versions. The secret is JSON: `{"current": "2",
 * "peppers": {"1": BASE64, "2": BASE64}}`.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { isObject } from '../../engine/meta/value/walk.ts'
import { keepFetched } from '../../engine/outbound/fetched.ts'
import type { HASH, RecordOf } from './strictrecord.ts'

/** The hash under which a key is stored. `hash` is base64url without padding. */
export interface KeyHash extends RecordOf<typeof HASH> {}

interface PepperDeps {
  /** Returns the current text of the secret. */
  getSecret(): Promise<string>
  /** Returns the current time in milliseconds. */
  now(): number
}

interface Peppers {
  /**
   * Returns the hashes under which the key may be stored, the current pepper's first. New keys use the current pepper.
   */
  hashes(key: string): Promise<KeyHash[]>
}

/** `freshMs` limits how long a rotation takes to arrive. */
const LIFETIME = { freshMs: 5 * 60_000, staleMs: 60 * 60_000, retryMs: 10_000 }

const MIN_BYTES = 32
const MAX_VERSIONS = 8

/** Returns peppers that are fetched on first use and cached for minutes. */
export function createPeppers({ getSecret, now }: PepperDeps): Peppers {
  const versions = keepFetched(async () => parsePeppers(await getSecret()), { ...LIFETIME, now })
  return {
    hashes: async (key) => (await versions.get()).map(({ version, pepper }) => ({ version, hash: hmac(pepper, key) })),
  }
}

interface Pepper {
  version: string
  pepper: KeyObject
}

const hmac = (pepper: KeyObject, key: string): string =>
  createHmac('sha256', pepper).update(key, 'utf8').digest('base64url')

/**
 * Parses the secret. Returns the current pepper first, then the others from newest to oldest. Throws an Error that does
 * not reveal the secret's content.
 */
export function parsePeppers(secret: string): readonly Pepper[] {
  const { current, peppers, ...more } = record(parseSecret(secret), 'the pepper secret')
  if (Object.keys(more).length > 0) throw new Error('the pepper secret has members other than current and peppers')
  const entries = Object.entries(record(peppers, 'peppers'))
  if (entries.length > MAX_VERSIONS) throw new Error(`the pepper secret has more than ${MAX_VERSIONS} peppers`)
  const versions = entries
    .map(([version, text]) => ({ version: checkVersion(version), pepper: createSecretKey(bytes(text)) }))
    .sort(
      (a, b) => Number(b.version === current) - Number(a.version === current) || Number(b.version) - Number(a.version),
    )
  if (typeof current !== 'string' || versions[0]?.version !== current) {
    throw new Error('current in the pepper secret does not name one of its peppers')
  }
  return versions
}

/** Parses JSON. A parser's own error would quote the text. */
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
