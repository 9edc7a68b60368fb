/**
 * Stores the texts of secrets in AWS Secrets Manager. Only this module and secretsclient.ts import the package
 * @aws-sdk/client-secrets-manager.
 */
import type { SecretsManagerClient, SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager'
import { countRequests } from '../engine/outbound/countrequests.ts'
import { keepFetched } from '../engine/outbound/fetched.ts'
import { type OpenTexts, SecretError, type SecretTexts } from './secrets.ts'

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

export const secretsManagerTexts = (connect: () => Promise<SecretsManagerClient>): SecretTexts => ({
  async read(id) {
    const { GetSecretValueCommand } = await sdk()
    const { SecretString } = await connect()
      .then((client) => client.send(new GetSecretValueCommand({ SecretId: id })))
      .catch(fail)
    if (SecretString === undefined) throw new SecretError('NotFound', new Error('the secret is binary'))
    return SecretString
  },

  async put(id, text) {
    const { PutSecretValueCommand } = await sdk()
    await connect()
      .then((client) => client.send(new PutSecretValueCommand({ SecretId: id, SecretString: text })))
      .catch(fail)
  },
})

export const openTexts: OpenTexts = (called) =>
  secretsManagerTexts(keepFetched(async () => countRequests(await connectSecrets(), called)).get)

/** Secrets Manager answers InvalidRequestException for a secret that is scheduled for deletion. */
const MISSING = new Set(['ResourceNotFoundException', 'InvalidRequestException'])

function fail(cause: Error): never {
  throw new SecretError(MISSING.has(cause.name) ? 'NotFound' : 'Unavailable', cause)
}
