/**
 * Reads and writes secrets in AWS Secrets Manager. Only this module and secretsclient.ts import the package
 * @aws-sdk/client-secrets-manager.
 */
import type { SecretsManagerClient, SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'

const sdk = () => import('./secretsclient.ts')

/** Returns a client that retries throttling and broken connections itself: at most 3 attempts of 3 s each. */
export async function connectSecrets(config: SecretsManagerClientConfig = {}): Promise<SecretsManagerClient> {
  const { SecretsManagerClient } = await sdk()
  return new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    ...config,
  })
}

export type SecretStage = 'AWSCURRENT' | 'AWSPREVIOUS' | 'AWSPENDING'

/** `NotFound`: the secret or version does not exist, or is being deleted. `Unavailable`: the state is unknown. */
export type SecretErrorCode = 'NotFound' | 'Unavailable'

/** An error that reveals nothing about the secret, not even its id. The cause is for the log. */
export class SecretError extends Error {
  readonly code: SecretErrorCode

  constructor(code: SecretErrorCode, cause: unknown) {
    super('a secret could not be read', { cause })
    this.name = 'SecretError'
    this.code = code
  }
}

export interface Secrets {
  /** Returns the text of a version (AWSCURRENT by default), at most 5 minutes old. Rejects with a SecretError. */
  get(id: string, stage?: SecretStage): Promise<string>
  /** Does the same without the cache, for when a cached credential is rejected. */
  refresh(id: string, stage?: SecretStage): Promise<string>
  /** Returns the current text without the cache, or undefined when the secret has no text yet. */
  find(id: string): Promise<string | undefined>
  /** Stores the text as the current version. Rejects with a SecretError. */
  put(id: string, text: string): Promise<void>
}

const KEEP_MS = 5 * 60_000
/** More virtual clusters than one warm function serves. The oldest entry is evicted first. */
const KEEP_MOST = 500

/**
 * Returns a cache of secrets; `now` is in Unix milliseconds. Failures are not cached, and concurrent callers share one
 * request.
 */
export function createSecrets(connect: () => Promise<SecretsManagerClient>, now: () => number): Secrets {
  const kept = new Map<string, { text: Promise<string>; until: number }>()

  async function read(id: string, stage: SecretStage): Promise<string> {
    try {
      const { GetSecretValueCommand } = await sdk()
      const client = await connect()
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id, VersionStage: stage }))
      if (SecretString !== undefined) return SecretString
    } catch (cause) {
      throw new SecretError(MISSING.has((cause as Error).name) ? 'NotFound' : 'Unavailable', cause)
    }
    throw new SecretError('NotFound', new Error('the secret is binary'))
  }

  function refresh(id: string, stage: SecretStage = 'AWSCURRENT'): Promise<string> {
    const key = `${stage} ${id}`
    const text = read(id, stage)
    kept.set(key, { text, until: now() + KEEP_MS })
    const [oldest] = kept.keys()
    if (kept.size > KEEP_MOST && oldest !== undefined) kept.delete(oldest)
    text.catch(() => {
      if (kept.get(key)?.text === text) kept.delete(key)
    })
    return text
  }

  return {
    refresh,
    async find(id) {
      try {
        return await refresh(id)
      } catch (error) {
        if (error instanceof SecretError && error.code === 'NotFound') return undefined
        throw error
      }
    },
    async put(id, text) {
      try {
        const { PutSecretValueCommand } = await sdk()
        const client = await connect()
        await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: text }))
      } catch (cause) {
        throw new SecretError(MISSING.has((cause as Error).name) ? 'NotFound' : 'Unavailable', cause)
      }
      kept.delete(`AWSCURRENT ${id}`)
    },
    get(id, stage = 'AWSCURRENT') {
      const known = kept.get(`${stage} ${id}`)
      return known && now() < known.until ? known.text : refresh(id, stage)
    },
  }
}

/** Secrets Manager answers InvalidRequestException for a secret that is scheduled for deletion. */
const MISSING = new Set(['ResourceNotFoundException', 'InvalidRequestException'])
