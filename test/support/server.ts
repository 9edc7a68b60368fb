/**
 * Starts the whole API in this process for tests: the packaged functions behind the local gateway over TLS, the table, KMS and
 * Secrets Manager, and an administrator's access key. Nothing is stored on disk.
 */
import https from 'node:https'
import type { Deployment } from '../../infra/local/gateway/deployment.ts'
import { startGateway } from '../../infra/local/gateway/gateway.ts'
import { type Address, prefixOf } from '../../infra/local/gateway/routes.ts'
import { issueLoopback, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { reservePort } from '../../infra/local/host/freeport.ts'
import { ensureFirstKey } from '../../lib/server/bootstrap.ts'
import { basePath, stage, startDeployment, type TestDeployment } from './deployment.ts'
import { accessKey, keys } from './objects.ts'
import { embeddedBundles, packaged } from './packaged.ts'
import { type Answer, type Call, mergePatch, request } from './request.ts'
import { isDynamoDB } from './store.ts'

export interface MadeKey {
  name: string
  uid: string
  token: string
}

export interface TestServer extends TestDeployment {
  /** `https://127.0.0.1:PORT/STAGE` */
  root: string
  /** `https://127.0.0.1:PORT/STAGE/kubernetes/management` */
  base: string
  /** Returns the path of a request on the host, which `kubectl --raw` needs: `/STAGE/kubernetes/management/…`. */
  onHost(path: string): string
  certificateAuthority: string
  adminKey: string
  /** Sends a request to a path below the base path; objects as JSON, text unchanged. */
  call(path: string, call?: Call): Promise<Answer>
  /** Sends a POST request, by default as the administrator. */
  post(path: string, body: unknown, token?: string): Promise<Answer>
  /** Sends a merge patch, by default as the administrator. */
  patch(path: string, body: unknown, token?: string): Promise<Answer>
  /** Returns the audit record of an answer. */
  auditOf(answer: Answer): Answer['json']
  /** Creates an object as the administrator and returns it, a new key with its value. Rejects on any other answer. */
  make(path: string, object: object): Promise<Answer['json']>
  /** Creates an access key with any name, by default as the administrator. Rejects on any other answer. */
  makeKey(spec?: object, metadata?: object, token?: string): Promise<MadeKey>
}

export interface ServerOptions {
  /** The interval of the garbage collector. */
  streamSeconds?: number
  /** Replaces that of the table of functions, which has no limits of requests. */
  deployment?: Deployment
  /** Replaces the folder of the packaged bundles. */
  bundles?: string
  /** By default the stage of the deployment. */
  address?: Address
  /** Runs no functions on schedules or for the stream of the table. */
  unscheduled?: boolean
  /** Keeps the table in this file instead of in memory. */
  file?: string
}

/** A deployment and its gateway, without an administrator. */
export interface Host
  extends Omit<TestServer, 'adminKey' | 'call' | 'post' | 'patch' | 'auditOf' | 'make' | 'makeKey'> {}

/**
 * Starts everything, below a stage as on a host of execute-api. `environment` overrides settings of the deployment (such as
 * MAX_KEY_TTL_SECONDS).
 */
export async function startServer(
  environment: Record<string, string> = {},
  options: ServerOptions = {},
): Promise<TestServer> {
  const host = await startHost(environment, options)
  const server = await openServer(host)
  return {
    ...server,
    async stop() {
      await server.stop()
      await host.stop()
    },
  }
}

/** Starts everything except the administrator. */
export async function startHost(
  environment: Record<string, string> = {},
  {
    streamSeconds = 1,
    deployment: served,
    bundles,
    address = { stage },
    unscheduled = false,
    file,
  }: ServerOptions = {},
): Promise<Host> {
  const [packagedBundles, authority] = await Promise.all([
    isDynamoDB ? packaged().then(({ bundles }) => bundles) : embeddedBundles(),
    makeAuthority('keyplane test', validFor(1, Date.now())),
  ])
  const serving = await issueLoopback(authority, Date.now())
  await using starting = new AsyncDisposableStack()
  // The issuer contains the port, which must be known before the server listens.
  const reserved = await reservePort()
  starting.defer(() => reserved.release())
  const root = `https://127.0.0.1:${reserved.port}${prefixOf(address)}`
  const base = `${root}${basePath}`
  const deployment = await startDeployment(base, environment, file)
  starting.defer(() => deployment.stop())
  const gateway = await startGateway({
    deployment: served,
    bundlesDir: bundles ?? packagedBundles,
    tls: { cert: serving.certificate, key: serving.key },
    port: reserved,
    environment: deployment.environment,
    streamSeconds,
    unscheduled,
    address,
  })
  starting.defer(() => gateway.close(0))
  const started = starting.move()
  return {
    ...deployment,
    root,
    base,
    onHost: (path) => `${prefixOf(address)}${basePath}${path}`,
    certificateAuthority: authority.certificate,
    stop: () => started.disposeAsync(),
  }
}

/** Creates the administrator of an empty table. `stop` closes the connections, and leaves the host running. */
export async function openServer(host: Host): Promise<TestServer> {
  let adminKey = ''
  const secrets = {
    find: async () => undefined,
    put: async (_: string, key: string) => {
      adminKey = key
    },
  }
  await ensureFirstKey(Object.create(host.parts, { secrets: { value: secrets } }), '')
  const agent = new https.Agent({ ca: host.certificateAuthority, keepAlive: true })
  const call = (path: string, call: Call = {}): Promise<Answer> =>
    request(agent, `${host.base}${path}`, { token: adminKey, ...call })
  return {
    ...host,
    adminKey,
    call,
    post: (path, body, token = adminKey) => call(path, { method: 'POST', body, token }),
    patch: (path, body, token = adminKey) => call(path, mergePatch(body, token)),
    auditOf: ({ headers }) =>
      host.log
        .map((line) => JSON.parse(line))
        .find(({ message, requestId }) => message === 'audit' && requestId === headers['audit-id']),
    async make(path, object) {
      const { status, text, json } = await call(path, { method: 'POST', body: object })
      if (status !== 201) throw new Error(`${status} for ${JSON.stringify(object)}: ${text}`)
      return json
    },
    async makeKey(spec = {}, metadata = {}, token = adminKey) {
      const body = {
        ...accessKey('', spec),
        metadata: { ...(!('name' in metadata) && { generateName: 'k-' }), ...metadata },
      }
      const { status, json, text } = await call(keys, { method: 'POST', body, token })
      if (status !== 201) throw new Error(`${status} for ${JSON.stringify(body)}: ${text}`)
      return { name: json.metadata.name, uid: json.metadata.uid, token: json.spec.key }
    },
    stop: async () => agent.destroy(),
  }
}
