/**
 * Starts the services of a deployment for one test file: the table, KMS with a signing key, Secrets Manager with a pepper, and the
 * environment of its functions. Nothing is stored on disk.
 */
import { randomBytes } from 'node:crypto'
import { CreateKeyCommand } from '@aws-sdk/client-kms'
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { createServer, type Server } from '../../lib/server/server.ts'
import type { Item, Items } from '../../lib/storage/items.ts'
import { type Aws, credentials, region, startAws } from './aws.ts'
import { isDynamoDB, openStore, type TestStore } from './store.ts'

export const stage = 'local'
export const basePath = '/kubernetes/management'
const pepper = 'keyplane/local/pepper'
const secretsPrefix = 'keyplane/local/virtualclusters/'

export interface TestDeployment {
  /** The environment of this process until `stop`. */
  environment: Record<string, string>
  store: TestStore
  aws: Aws
  /** The parts of the server, on the same store. */
  parts: Server
  /** The captured standard output of the functions so far. */
  log: string[]
  /** Stores credentials of a virtual cluster in the secret that the API reads. */
  keepCredentials(name: string, text: string): Promise<void>
  /** Deletes everything that was stored, published and logged, except the pepper and the signing key. */
  empty(): Promise<void>
  stop(): Promise<void>
}

/** Starts everything; `settings` override those of the deployment (MAX_KEY_TTL_SECONDS and the like). */
export async function startDeployment(
  issuer: string,
  settings: Record<string, string> = {},
  file?: string,
): Promise<TestDeployment> {
  const [store, aws] = await Promise.all([openStore(file), startAws()])
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(isDynamoDB && { AWS_ENDPOINT_URL_DYNAMODB: store.dynamodb.endpoint }),
    AWS_ENDPOINT_URL_KMS: aws.endpoints.kms,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.endpoints.secretsManager,
    AWS_ENDPOINT_URL_EVENTBRIDGE: aws.endpoints.eventBridge,
    TABLE_NAME: store.table,
    PEPPER_SECRET_ID: await makePepper(aws),
    SIGNING_KEY_IDS: await makeSigningKey(aws),
    EVENT_BUS: 'default',
    STAGE: stage,
    BASE_PATH: basePath,
    ISSUER: issuer,
    API_URL: issuer,
    VIRTUAL_CLUSTER_SECRETS_PREFIX: secretsPrefix,
    ...settings,
  }
  const restore = applyEnvironment(environment)
  const log: string[] = []
  const release = captureLog(log)
  return {
    log,
    environment,
    store,
    aws,
    parts: createServer(process.env),
    async keepCredentials(name, text) {
      await aws.secrets.send(new CreateSecretCommand({ Name: secretsPrefix + name, SecretString: text }))
    },
    async empty() {
      await Promise.all([emptyTable(store), aws.empty([pepper])])
      log.length = 0
    },
    async stop() {
      await Promise.all([store.close(), aws.stop()])
      restore()
      release()
    },
  }
}

/**
 * Deletes all objects and their log. Revisions go on, because a function that runs remembers those that it has waited for.
 */
async function emptyTable(store: TestStore): Promise<void> {
  const revisions = (await store.all()).filter(({ sk }) => sk === '#revision')
  await store.empty()
  const at = Date.now()
  await putItems(
    store.items(),
    revisions.map(({ n = at, ...one }) => ({ ...one, n, settled: n, floor: n, at })),
  )
}

/** Puts items into a table, without conditions. */
export async function putItems(items: Items, all: readonly Item[]): Promise<void> {
  for (let first = 0; first < all.length; first += 25) {
    const writes = all.slice(first, first + 25).map((item) => ({ type: 'put' as const, item }))
    await items.transact(writes, Number.POSITIVE_INFINITY)
  }
}

/**
 * Appends JSON lines of the standard output, which are the log of the functions, to `log`, and forwards other output. Returns a
 * function that ends this.
 */
export function captureLog(log: string[]): () => void {
  const { stdout } = process
  const write = stdout.write
  stdout.write = ((chunk: string | Uint8Array, ...rest: never[]) => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{')) return write.call(stdout, chunk, ...rest)
    log.push(chunk)
    return true
  }) as typeof write
  return () => {
    stdout.write = write
  }
}

async function makePepper({ secrets }: Aws): Promise<string> {
  const SecretString = JSON.stringify({ current: '1', peppers: { 1: randomBytes(32).toString('base64') } })
  const { ARN = '' } = await secrets.send(new CreateSecretCommand({ Name: pepper, SecretString }))
  return ARN
}

async function makeSigningKey({ kms }: Aws): Promise<string> {
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }))
  return KeyMetadata?.KeyId ?? ''
}
