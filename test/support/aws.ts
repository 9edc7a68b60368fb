/** Starts KMS and Secrets Manager in memory, with clients of the SDK. */
import { KMSClient } from '@aws-sdk/client-kms'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { startKms } from '../../infra/local/aws/kms.ts'
import { startSecretsManager } from '../../infra/local/aws/secretsmanager.ts'
import { createVerifier } from '../../infra/local/aws/sigv4.ts'

export interface Aws {
  kms: KMSClient
  secrets: SecretsManagerClient
  /** Values for AWS_ENDPOINT_URL_KMS and AWS_ENDPOINT_URL_SECRETS_MANAGER. */
  endpoints: { kms: string; secretsManager: string }
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
    kms: kmsEndpoint,
    ...(secretsPath !== undefined && { path: secretsPath }),
  })
  const client = { region, credentials, maxAttempts: 1 }
  const kms = new KMSClient({ ...client, endpoint: kmsEndpoint.url })
  const secrets = new SecretsManagerClient({ ...client, endpoint: secretsEndpoint.url })
  return {
    kms,
    secrets,
    endpoints: { kms: kmsEndpoint.url, secretsManager: secretsEndpoint.url },
    async stop() {
      kms.destroy()
      secrets.destroy()
      await Promise.all([kmsEndpoint.close(), secretsEndpoint.close()])
    },
  }
}
