/**
 * The whole API in this process, as a test drives it: the packaged template behind the local gateway over TLS, an
 * embedded DynamoDB, KMS and Secrets Manager, and an administrator's access key. Kept nowhere.
 */
import { randomBytes } from 'node:crypto'
import https from 'node:https'
import { CreateKeyCommand } from '@aws-sdk/client-kms'
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager'
import { issueLoopback, makeAuthority, validFor } from '../../infra/local/certificates.ts'
import { freePort } from '../../infra/local/freeport.ts'
import { startGateway } from '../../infra/local/gateway.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { firstKey } from '../../lib/server/bootstrap.ts'
import { createServer, type Server } from '../../lib/server/services.ts'
import { type Aws, startAws } from './aws.ts'
import { startDynamoDB, type TestDynamoDB } from './dynamodb.ts'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any
}

export interface Call {
  method?: string
  body?: unknown
  /** Bearer token; the administrator's by default, '' = none. */
  token?: string
  headers?: Record<string, string>
}

const basePath = '/kubernetes/management'

export interface TestServer {
  /** `https://127.0.0.1:PORT` */
  origin: string
  /** `https://127.0.0.1:PORT/kubernetes/management` */
  base: string
  certificateAuthority: string
  adminKey: string
  dynamodb: TestDynamoDB
  aws: Aws
  /** The server's own parts, over the same store. */
  parts: Server
  /** Paths below the base; objects are sent as JSON, text as it is. */
  call(path: string, call?: Call): Promise<Answer>
  stop(): Promise<void>
}

const region = 'eu-central-1'

/** Starts everything; `environment` overrides settings of the deployment (MAX_KEY_TTL_SECONDS and the like). */
export async function startServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const [packaged, dynamodb, aws, authority, port] = await Promise.all([
    ensurePackaged({ quiet: true }),
    startDynamoDB(),
    startAws(),
    makeAuthority('keyplane test', validFor(1, Date.now())),
    freePort(),
  ])
  const serving = await issueLoopback(authority, Date.now())
  const origin = `https://127.0.0.1:${port}`
  const base = `${origin}${basePath}`
  const variables = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
    AWS_ENDPOINT_URL_KMS: aws.endpoints.kms,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.endpoints.secretsManager,
    TABLE_NAME: dynamodb.table,
    PEPPER_SECRET_ID: await makePepper(aws),
    SIGNING_KEY_IDS: await makeSigningKey(aws),
    STAGE: 'local',
    BASE_PATH: basePath,
    ISSUER: base,
    VIRTUAL_CLUSTER_SECRETS_PREFIX: 'keyplane/local/virtualclusters/',
    ...environment,
  }
  const gateway = await startGateway({
    template: packaged.template,
    bundlesDir: packaged.bundles,
    tls: { cert: serving.certificate, key: serving.key },
    port,
    refs: { Table: variables.TABLE_NAME, Pepper: variables.PEPPER_SECRET_ID, SigningKey: variables.SIGNING_KEY_IDS },
    environment: variables,
    streamSeconds: 1,
  })
  const parts = createServer({ ...process.env, ...variables })
  let adminKey = ''
  await firstKey(parts, {
    read: async () => undefined,
    write: async (key) => {
      adminKey = key
    },
  })
  const agent = new https.Agent({ ca: authority.certificate, keepAlive: true })
  return {
    origin,
    base,
    certificateAuthority: authority.certificate,
    adminKey,
    dynamodb,
    aws,
    parts,
    call: (path, call = {}) => request(agent, `${base}${path}`, { token: adminKey, ...call }),
    async stop() {
      agent.destroy()
      await gateway.close(0)
      await Promise.all([dynamodb.stop(), aws.stop()])
    },
  }
}

async function makePepper({ secrets }: Aws): Promise<string> {
  const SecretString = JSON.stringify({ current: '1', peppers: { 1: randomBytes(32).toString('base64') } })
  const { ARN = '' } = await secrets.send(new CreateSecretCommand({ Name: 'keyplane/local/pepper', SecretString }))
  return ARN
}

async function makeSigningKey({ kms }: Aws): Promise<string> {
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }))
  return KeyMetadata?.KeyId ?? ''
}

function request(
  agent: https.Agent,
  url: string,
  { method = 'GET', body, token, headers = {} }: Call,
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const all = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && typeof body !== 'string' && { 'content-type': 'application/json' }),
    ...(text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = https.request(url, { method, agent, headers: all }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const received = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, json: parsed(received) })
      })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
