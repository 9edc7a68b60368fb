/**
 * Starts the services of a deployment for one test file: the table, a signing key, secrets with a pepper, a bus, and the environment of
 * its functions. They are those of the local server, or in `npm run test:dynamodb` emulated ones of AWS. Nothing is stored on disk.
 */
import { randomBytes } from 'node:crypto'
import { provideServices } from '../../infra/local/aws/services.ts'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { type LocalSecrets, SECRETS } from '../../lib/clusters/localsecrets.ts'
import { provide } from '../../lib/engine/meta/provided.ts'
import type { Item, Items } from '../../lib/engine/storage/items.ts'
import { createServer, type Server } from '../../lib/server/server.ts'
import { credentials, region, startAws } from './aws.ts'
import { isDynamoDB, openStore, type TestStore } from './store.ts'

export const stage = 'local'
export const basePath = '/kubernetes/management'
const pepper = 'keyplane/local/pepper'
const secretsPrefix = 'keyplane/local/virtualclusters/'

/** The signing key, the secrets and the bus. */
interface Services {
  /** The variables that name them. */
  environment: Record<string, string>
  /** Returns the text of a secret, by its name or ARN. */
  secret(id: string): Promise<string | undefined>
  /** Gives a secret a text, and returns its ARN. Creates it when it is missing. */
  setSecret(name: string, text?: string): Promise<string>
  /** The JSON texts of the events that were published so far. */
  published: string[]
  /** Forgets the secrets, except the pepper. */
  empty(): void
  /** Provides this process with them again, until the returned function is called. They are, from the start on, until `stop`. */
  provide(): () => void
  stop(): Promise<void>
}

export interface TestDeployment {
  /** The environment of this process until `stop`. */
  environment: Record<string, string>
  store: TestStore
  services: Services
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
  const [store, services] = await Promise.all([openStore(file), isDynamoDB ? emulatedServices() : ownServices()])
  const environment = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(isDynamoDB && { AWS_ENDPOINT_URL_DYNAMODB: store.dynamodb.endpoint }),
    ...services.environment,
    TABLE_NAME: store.table,
    PEPPER_SECRET_ID: await services.setSecret(pepper, newPepper()),
    EVENT_BUS: 'default',
    STAGE: stage,
    BASE_PATH: basePath,
    ISSUER: issuer,
    API_URL: issuer,
    VIRTUAL_CLUSTER_SECRETS_PREFIX: secretsPrefix,
    CLUSTER_SECRETS_PREFIX: secretsPrefix.replace('virtualclusters', 'clusters'),
    ...settings,
  }
  const restore = applyEnvironment(environment)
  const log: string[] = []
  const release = captureLog(log)
  return {
    log,
    environment,
    store,
    services,
    parts: createServer(process.env),
    async keepCredentials(name, text) {
      await services.setSecret(secretsPrefix + name, text)
    },
    async empty() {
      await emptyTable(store)
      services.empty()
      services.published.length = 0
      log.length = 0
    },
    async stop() {
      await Promise.all([store.close(), services.stop()])
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

const newPepper = () => JSON.stringify({ current: '1', peppers: { 1: randomBytes(32).toString('base64') } })

/** Provides the services of the local server. */
async function ownServices(): Promise<Services> {
  const stack = new AsyncDisposableStack()
  const published: string[] = []
  const account = '000000000000'
  const push = (detail: string) => void published.push(detail)
  const services = await provideServices({ stateFile: () => ({}), region, account, published: push }, stack)
  const { keys, secrets } = services
  const names = new Set<string>()
  const forgotten = new Set<string>()
  const read = async (id: string) => (forgotten.has(id) ? undefined : secrets.read(id))
  const provideAll = () => {
    const ends = [services.provide(), provide<LocalSecrets>(SECRETS, { read, put: secrets.put })]
    return () => {
      for (const end of ends) end()
    }
  }
  stack.defer(provideAll())
  return {
    environment: { SIGNING_KEY_IDS: await keys.ensureKey('alias/keyplane/test') },
    secret: read,
    async setSecret(name, text) {
      names.add(name)
      forgotten.delete(name)
      const arn = name.startsWith('arn:') ? name : await secrets.ensureSecret(name)
      if (text !== undefined) await secrets.put(arn, text)
      return arn
    },
    published,
    empty() {
      for (const name of names) if (name !== pepper) forgotten.add(name)
    },
    provide: provideAll,
    stop: () => stack.disposeAsync(),
  }
}

/** Emulates the services of AWS for the clients of the deployed functions. */
async function emulatedServices(): Promise<Services> {
  const { url, makeKey, secret, setSecret, deleteSecrets, published, stop } = await startAws()
  return {
    environment: {
      AWS_ENDPOINT_URL_KMS: url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
      AWS_ENDPOINT_URL_EVENTBRIDGE: url,
      SIGNING_KEY_IDS: makeKey(),
    },
    secret: async (id) => secret(id),
    setSecret: async (name, text) => setSecret(name, text),
    published,
    empty: () => deleteSecrets(pepper),
    // The environment names them.
    provide: () => () => {},
    stop,
  }
}
