/**
 * Reads and writes secrets in AWS Secrets Manager. Only this module and secretsclient.ts import the package
 * @aws-sdk/client-secrets-manager.
 */
import type { SecretsManagerClient, SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'
import { type Fetched, keepFetched } from '../outbound/fetched.ts'

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
export function createSecrets(connect: () => Promise<SecretsManagerClient>, now: () => number): Secrets {
  const kept = new Map<string, Fetched<string>>()

  async function read(id: string): Promise<string> {
    const { GetSecretValueCommand } = await sdk()
    const { SecretString } = await connect()
      .then((client) => client.send(new GetSecretValueCommand({ SecretId: id })))
      .catch(fail)
    if (SecretString === undefined) throw new SecretError('NotFound', new Error('the secret is binary'))
    return SecretString
  }

  function keep(id: string): Fetched<string> {
    const text = kept.get(id) ?? keepFetched(() => read(id), { freshMs: KEEP_MS, now })
    kept.set(id, text)
    const [oldest] = kept.keys()
    if (kept.size > KEEP_MOST && oldest !== undefined) kept.delete(oldest)
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
      const { PutSecretValueCommand } = await sdk()
      await connect()
        .then((client) => client.send(new PutSecretValueCommand({ SecretId: id, SecretString: text })))
        .catch(fail)
      kept.delete(id)
    },
  }
}

/** Secrets Manager answers InvalidRequestException for a secret that is scheduled for deletion. */
const MISSING = new Set(['ResourceNotFoundException', 'InvalidRequestException'])

function fail(cause: Error): never {
  throw new SecretError(MISSING.has(cause.name) ? 'NotFound' : 'Unavailable', cause)
}
