/** Starts KMS, Secrets Manager and EventBridge in memory, with clients of the SDK. */
import { KMSClient } from '@aws-sdk/client-kms'
import { DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { startEventBridge } from '../../infra/local/aws/eventbridge.ts'
import { startKms } from '../../infra/local/aws/kms.ts'
import { startSecretsManager } from '../../infra/local/aws/secretsmanager.ts'
import { createVerifier } from '../../infra/local/aws/sigv4.ts'

export interface Aws {
  kms: KMSClient
  secrets: SecretsManagerClient
  /** Values for AWS_ENDPOINT_URL_KMS, AWS_ENDPOINT_URL_SECRETS_MANAGER and AWS_ENDPOINT_URL_EVENTBRIDGE. */
  endpoints: { kms: string; secretsManager: string; eventBridge: string }
  /** The JSON texts of the events that were published so far. */
  published: string[]
  /** Forgets the published events, and deletes the secrets that `secrets` created, except those named. */
  empty(except: readonly string[]): Promise<void>
  stop(): Promise<void>
}

export interface AwsOptions {
  /** Files that store the state; in memory when absent. */
  kmsPath?: string
  secretsPath?: string
}

export const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
export const region = 'eu-central-1'

/** One attempt per call, so that an expected rejection returns at once. */
export async function startAws({ kmsPath, secretsPath }: AwsOptions = {}): Promise<Aws> {
  const verify = createVerifier({ credentials, region, now: Date.now })
  const common = { region, account: '000000000000', verify }
  const kmsEndpoint = await startKms({ ...common, ...(kmsPath !== undefined && { path: kmsPath }) })
  const secretsEndpoint = await startSecretsManager({
    ...common,
    ...(secretsPath !== undefined && { path: secretsPath }),
  })
  const published: string[] = []
  const eventBridge = await startEventBridge({ verify, received: (detail) => void published.push(detail) })
  const client = { region, credentials, maxAttempts: 1 }
  const kms = new KMSClient({ ...client, endpoint: kmsEndpoint.url })
  const secrets = new SecretsManagerClient({ ...client, endpoint: secretsEndpoint.url })
  const created = new Set<string>()
  secrets.middlewareStack.add((next, { commandName }) => async (call) => {
    const result = await next(call)
    const { Name, SecretId } = call.input as { Name?: string; SecretId?: string }
    if (commandName === 'CreateSecretCommand' && Name) created.add(Name)
    if (commandName === 'DeleteSecretCommand' && SecretId) created.delete(SecretId)
    return result
  })
  return {
    kms,
    secrets,
    endpoints: { kms: kmsEndpoint.url, secretsManager: secretsEndpoint.url, eventBridge: eventBridge.url },
    published,
    async empty(except) {
      published.length = 0
      for (const SecretId of created) {
        if (!except.includes(SecretId)) await secrets.send(new DeleteSecretCommand({ SecretId }))
      }
    },
    async stop() {
      kms.destroy()
      secrets.destroy()
      await Promise.all([kmsEndpoint.close(), secretsEndpoint.close(), eventBridge.close()])
    },
  }
}
