/**
 * Starts the services of a deployment for one test file: an embedded DynamoDB with the table, KMS with a signing key,
 * Secrets Manager with a pepper, and the environment from serverless.yml. Nothing is stored on disk.
 */
import { randomBytes } from 'node:crypto'
import { type AttributeValue, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { CreateKeyCommand } from '@aws-sdk/client-kms'
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { createServer, type Server } from '../../lib/server/server.ts'
import { type Aws, credentials, region, startAws } from './aws.ts'
import { startDynamoDB, type TestDynamoDB } from './dynamodb.ts'

export const stage = 'local'
export const basePath = '/kubernetes/management'
const pepper = 'keyplane/local/pepper'
const secretsPrefix = 'keyplane/local/virtualclusters/'

export interface TestDeployment {
  /** The environment of this process until `stop`. */
  environment: Record<string, string>
  dynamodb: TestDynamoDB
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
export async function startDeployment(issuer: string, settings: Record<string, string> = {}): Promise<TestDeployment> {
  const [dynamodb, aws] = await Promise.all([startDynamoDB(), startAws()])
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
    AWS_ENDPOINT_URL_KMS: aws.endpoints.kms,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.endpoints.secretsManager,
    AWS_ENDPOINT_URL_EVENTBRIDGE: aws.endpoints.eventBridge,
    TABLE_NAME: dynamodb.table,
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
    dynamodb,
    aws,
    parts: createServer(process.env),
    async keepCredentials(name, text) {
      await aws.secrets.send(new CreateSecretCommand({ Name: secretsPrefix + name, SecretString: text }))
    },
    async empty() {
      await Promise.all([emptyTable(dynamodb), aws.empty([pepper])])
      log.length = 0
    },
    async stop() {
      await Promise.all([dynamodb.stop(), aws.stop()])
      restore()
      release()
    },
  }
}

/**
 * Deletes all objects and their log. Revisions go on, because a function that runs remembers those that it has waited for.
 */
async function emptyTable({ client, table, empty }: TestDynamoDB): Promise<void> {
  const revisions: Record<string, AttributeValue>[] = []
  const scanned = {
    TableName: table,
    FilterExpression: 'sk = :sk',
    ExpressionAttributeValues: { ':sk': { S: '#revision' } },
  }
  for await (const { Items = [] } of paginateScan({ client }, scanned)) revisions.push(...Items)
  await empty()
  const at = { N: String(Date.now()) }
  for (const { n = at, ...one } of revisions)
    await client.send(new PutItemCommand({ TableName: table, Item: { ...one, n, settled: n, floor: n, at } }))
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
