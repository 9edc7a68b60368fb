/** Starts the local server: data folder, services of AWS, demo virtual cluster, gateway and demo issuer. Stops them in reverse order. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { shellOf } from '../../clients/core/src/shellwords.ts'
import { BASE_PATH } from '../../lib/clusters/deployment.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import type { Say } from '../package.ts'
import { CLUSTER_SECRETS, CONNECTED_SECRETS, SECRETS } from './aws/clustersecrets.ts'
import { type MakeTable, makeResources } from './aws/resources.ts'
import { type LocalServices, provideServices } from './aws/services.ts'
import { banner } from './banner.ts'
import { startBundles } from './bundles.ts'
import { type DataDir, openDataDir } from './datadir.ts'
import { startDemoCluster } from './democluster.ts'
import { examples } from './examples.ts'
import { bootstrapFirstKey } from './firstkey.ts'
import { deployedWith } from './gateway/deployment.ts'
import { variablesOf } from './gateway/environment.ts'
import { startGateway } from './gateway/gateway.ts'
import type { Answered } from './gateway/requestlines.ts'
import { prefixOf } from './gateway/routes.ts'
import { issueLoopback, type KeyPair, keepAuthority } from './host/certificates.ts'
import { checkClock } from './host/clock.ts'
import { fileProblem } from './host/fileproblem.ts'
import { type ReservedPort, reservePort } from './host/freeport.ts'
import { kubeConfigFile } from './host/kubeconfigfile.ts'
import { StartupError } from './host/startuperror.ts'
import { openStored } from './host/stored.ts'
import { startDemoIssuer } from './issuer/demoissuer.ts'
import { ensureDemoTrust } from './issuer/demotrust.ts'
import { writeOutputs } from './outputs.ts'
import type { Settings } from './settings.ts'
import { embeddedTable, tableOf } from './table.ts'
import { DEMO, ensureDemo } from './virtualcluster/demo.ts'
import type { DemoCluster } from './virtualcluster/demotypes.ts'

export interface LocalServer {
  /** `https://127.0.0.1:8443/kubernetes/management`, with `/STAGE` before the base path if one is set. */
  url: string
  /** What there is and what to try first. */
  banner: string
  /** More commands to try. */
  examples: string
  /** Resolves when all parts have stopped and every write is on disk. */
  close(): Promise<void>
}

/** Output for the person at the terminal. */
export interface Screen {
  say: Say
  /** Called before anything is logged, with the path of the file that keeps what the functions log. Not called with `memory`. */
  keepLog(path: string): void
  /** Called for every request when its response starts. */
  answered(answered: Answered): void
  /** Called for every event that is published, with its JSON text. */
  published(detail: string): void
}

const REGION = 'eu-central-1'
const ACCOUNT = '000000000000'

/**
 * Throws a StartupError for problems that the user can fix, and the reason of `signal` as soon as that is aborted, after it has stopped the
 * parts that were started.
 */
export async function startLocalServer(
  settings: Settings,
  now: () => number,
  screen: Screen,
  signal: AbortSignal,
): Promise<LocalServer> {
  checkClock(now())
  await using starting = new AsyncDisposableStack()
  const reserved = await reservePort(settings.port)
  starting.defer(() => reserved.release())
  const dataDir = await openDataDir(settings)
  starting.defer(() => dataDir.release())
  try {
    const { path: log } = dataDir.stateFile('log.jsonl')
    if (log !== undefined) screen.keepLog(log)
    const facts = await Promise.race([serve(settings, { dataDir, reserved, now, screen, starting }), aborted(signal)])
    const started = starting.move()
    return { ...facts, close: () => started.disposeAsync() }
  } catch (error) {
    const { path } = error as NodeJS.ErrnoException
    if (error instanceof StartupError || (path !== undefined && !path.startsWith(dataDir.path))) throw error
    const variable = settings.memory ? 'TMPDIR' : 'DATA_DIR'
    throw fileProblem(error, { path: dataDir.path, what: 'folder', variable }) ?? error
  }
}

/** Rejects when the signal is aborted. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })

interface Begun {
  dataDir: DataDir
  reserved: ReservedPort
  now(): number
  screen: Screen
  /** Collects the parts to stop. */
  starting: AsyncDisposableStack
}

/** Starts all parts. */
async function serve(
  settings: Settings,
  { dataDir, reserved, now, screen: { say, answered, published }, starting }: Begun,
): Promise<Omit<LocalServer, 'close'>> {
  const bundles = startBundles({
    folder: join(dataDir.path, 'bundles'),
    conditions: settings.dynamodb === undefined ? ['embedded'] : ['local'],
    say,
  })
  starting.defer(() => bundles.close())
  const parts = { dataDir, now, say, published, stack: starting }
  const { services, cluster, authority, makeTable } = await startParts(settings, parts)
  const resources = await prepare(services, makeTable, cluster, settings)
  await bundles.ready

  const { stage } = settings
  const address = stage === undefined ? { mapping: '' } : { stage }
  const issuer = `https://127.0.0.1:${reserved.port}${prefixOf(address)}${BASE_PATH}`
  const serving = await issueLoopback(authority, now())
  const ready = Promise.withResolvers<void>()
  const gateway = await startGateway({
    deployment: deployedWith(settings.parameters),
    // The requests of the start itself use up no limit.
    limitedFrom: ready.promise,
    bundlesDir: bundles.folder,
    bundled: bundles.complete,
    tls: { cert: serving.certificate, key: serving.key },
    port: reserved,
    environment: { ...resources, ...environmentFor({ ...settings, issuer }), ...variablesOf(settings.parameters) },
    address,
    sharesHost: true,
    answered,
  })
  starting.defer(() => gateway.close())

  const common = { api: `${issuer}/apis/management.platform/v1`, authority: authority.certificate }
  const accessKey = await bootstrapFirstKey(bundles.folder, services.secrets, `${SECRETS}access-key`)
  const clusterKey = generateAccessKey(randomBytes)
  const uid = await ensureDemo({ ...common, accessKey, cluster, clusterKey })
  const identity = { type: 'virtualCluster', namespace: DEMO.namespace, name: DEMO.name, uid } as const
  await cluster.trust({ issuer, authority: authority.certificate, accessKey: clusterKey, identity })

  const idTokens = await startDemoIssuer({ tls: serving, now })
  starting.defer(() => idTokens.close())
  const credential = await ensureDemoTrust({ ...common, accessKey, jwks: idTokens.jwks })
  const job = { requestUrl: `${idTokens.url}/github?api-version=2.0`, requestToken: idTokens.requestToken, credential }

  const files = await writeOutputs(dataDir.path, { url: issuer, authority: authority.certificate, accessKey, job })
  ready.resolve()
  const commands = { url: issuer, files, shell: shellOf(process.env, process.platform) }
  return {
    url: issuer,
    banner: banner({
      ...commands,
      console: new URL('../console/', issuer).href,
      keeps: keptBy(settings, dataDir.path),
      folder: process.cwd(),
    }),
    examples: examples({ ...commands, demoKubeconfig: join(dataDir.path, 'demo.kubeconfig') }),
  }
}

const keptBy = ({ memory, dynamodb }: Settings, path: string): string => {
  const place = memory ? 'Nothing is stored.' : `Data is stored in ${path}.`
  return dynamodb === undefined ? place : `${place} The table is in the DynamoDB at ${dynamodb}.`
}

/** The credentials that an emulator of DynamoDB is given, which checks none. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }

interface Parts {
  dataDir: DataDir
  now(): number
  say: Say
  published(detail: string): void
  stack: AsyncDisposableStack
}

/** Starts independent parts in parallel. Waits for all before it reports a failure, so that all can be stopped. */
async function startParts(settings: Settings, { dataDir, now, say, published, stack }: Parts) {
  const { dynamodb } = settings
  const makeTable =
    dynamodb === undefined
      ? embeddedTable(dataDir.stateFile('table.db').path, now, stack)
      : tableOf(dynamodb, REGION, credentials)
  const parts = [
    provideServices({ stateFile: dataDir.stateFile, region: REGION, account: ACCOUNT, published }, stack),
    startDemoCluster(settings, dataDir, now, say).then((cluster) => {
      stack.defer(() => cluster.close())
      return cluster
    }),
    openAuthority(dataDir, now(), say),
  ] as const
  await Promise.allSettled(parts)
  const [services, cluster, authority] = await Promise.all(parts)
  return { services, cluster, authority, makeTable }
}

async function openAuthority(dataDir: DataDir, now: number, say: Say): Promise<KeyPair> {
  const stored = await openStored<{ authority?: KeyPair }>(dataDir.stateFile('ca.json').path, {})
  const authority = await keepAuthority(stored.state.authority, 'keyplane local', now, say)
  if (authority !== stored.state.authority) await stored.change((draft) => Object.assign(draft, { authority }))
  return authority
}

/** Makes the table, the signing keys and the secrets, and stores the credentials of the demo virtual cluster. */
async function prepare(
  services: LocalServices,
  makeTable: MakeTable,
  cluster: DemoCluster,
  { parameters }: Pick<Settings, 'parameters'>,
) {
  const variables = await makeResources({
    ...services,
    makeTable,
    secretPrefix: SECRETS,
    signingKeys: parameters.SigningKeys,
  })
  const manager = kubeConfigFile({
    name: 'manager',
    server: cluster.url,
    certificateAuthority: cluster.certificateAuthority,
    token: cluster.managerToken,
  })
  await services.secrets.setText(`${CLUSTER_SECRETS}${DEMO.namespace}/${DEMO.name}`, manager)
  return variables
}

/** Returns the variables that the template has for a deployment in AWS only. */
const environmentFor = ({
  issuer,
  stage = 'local',
  dynamodb,
}: Pick<Settings, 'stage' | 'dynamodb'> & { issuer: string }) => ({
  ISSUER: issuer,
  API_URL: issuer,
  STAGE: stage,
  VIRTUAL_CLUSTER_SECRETS_PREFIX: CLUSTER_SECRETS,
  CLUSTER_SECRETS_PREFIX: CONNECTED_SECRETS,
  ...(dynamodb !== undefined && {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'false',
  }),
})
