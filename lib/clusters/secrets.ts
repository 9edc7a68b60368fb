/** Caches the secrets of a deployment. Their errors reveal nothing. */
import { setBounded } from '../engine/meta/value/bounded.ts'
import { type Fetched, keepFetched } from '../engine/outbound/fetched.ts'

/** `NotFound`: the secret or version does not exist, or is being deleted. `Unavailable`: the state is unknown. */
type SecretErrorCode = 'NotFound' | 'Unavailable'

/** An error that reveals nothing about the secret, not even its id. The cause is for the log. */
export class SecretError extends Error {
  readonly code: SecretErrorCode

  constructor(code: SecretErrorCode, cause: unknown) {
    super('a secret could not be read', { cause })
    this.name = 'SecretError'
    this.code = code
  }
}

/** What stores the texts of secrets. Every operation rejects with a SecretError. */
export interface SecretTexts {
  read(id: string): Promise<string>
  put(id: string, text: string): Promise<void>
}

/** Opens the texts. They connect to nothing before the first operation. `called` is called for each request, each retry included. */
export type OpenTexts = (called: () => void) => SecretTexts

/** The texts of secrets, in their current versions. Every operation rejects with a SecretError. */
export interface Secrets {
  read(id: string): Promise<string>
  /** Returns undefined when the secret has no text yet. */
  find(id: string): Promise<string | undefined>
  /** Returns a text that is at most 5 minutes old. */
  get(id: string): Promise<string>
  /** Does the same without the cache, for when a cached credential is rejected. */
  refresh(id: string): Promise<string>
  put(id: string, text: string): Promise<void>
}

const KEEP_MS = 5 * 60_000
/** More virtual clusters than one warm function serves. The oldest entry is evicted first. */
const KEEP_MOST = 500

/** Returns the secrets; `now` is in Unix milliseconds. */
export function createSecrets(texts: () => SecretTexts, now: () => number): Secrets {
  const kept = new Map<string, Fetched<string>>()
  const read = async (id: string) => texts().read(id)

  function keep(id: string): Fetched<string> {
    const text = kept.get(id) ?? keepFetched(() => read(id), { freshMs: KEEP_MS, now })
    setBounded(kept, id, text, KEEP_MOST)
    return text
  }

  return {
    read,
    find: (id) =>
      read(id).catch((error: unknown) => {
        if (error instanceof SecretError && error.code === 'NotFound') return undefined
        throw error
      }),
    get: (id) => keep(id).get(),
    refresh: (id) => keep(id).refresh(),
    async put(id, text) {
      await texts().put(id, text)
      kept.delete(id)
    },
  }
}
