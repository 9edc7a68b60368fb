/** Reads the settings of the local server from options and from the environment. */
import { resolve } from 'node:path'
import { variableOf } from '../settings/setting.ts'
import { type ParameterValues, readValues, stageError } from '../settings/values.ts'
import { functionSettings } from './gateway/environment.ts'
import { StartupError } from './host/startuperror.ts'

export interface Settings {
  /** 0 selects a free port. */
  port: number
  /** Serves the API below `/STAGE`, as on a host of execute-api. */
  stage?: string
  /** Absolute path. Not used with `memory`. */
  dataDir: string
  /** Store nothing. */
  memory: boolean
  /** URL of a DynamoDB, or of an emulator, that has the table. By default it is in this process. */
  dynamodb?: string
  /** Folder with etcd, kube-apiserver and kube-controller-manager; makes the demo a real cluster. */
  kubebuilderAssets?: string
  /** The settings of a deployment that are given. */
  parameters: ParameterValues
}

const DEFAULT_PORT = 8443

/** The settings of a deployment that have an effect here, with the environment variable of each. The demo is in a namespace with the default prefix. */
export const deploymentSettings: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'throttle-rate',
    'throttle-burst',
    'exchange-throttle-rate',
    'exchange-throttle-burst',
    'signing-keys',
    ...functionSettings.map(([name]) => name).filter((name) => name !== 'project-namespace-prefix'),
  ].map((name) => [name, variableOf(name)]),
)

type Texts = Readonly<Record<string, string | undefined>>

/**
 * Reads the options and the variables that main.ts lists. `given` are the settings of a deployment among the options. Throws a UsageError
 * for these, as the deployment does, and a StartupError for others.
 */
export function readSettings(
  { memory, dynamodb }: { memory: boolean; dynamodb?: string | undefined },
  given: Texts,
  environment: Texts,
  cwd: string,
  platform = process.platform,
): Settings {
  const { PORT, STAGE, DATA_DIR, KUBEBUILDER_ASSETS: assets } = environment
  if (assets && platform === 'win32')
    throw new StartupError('KUBEBUILDER_ASSETS makes the demo a real cluster on Linux and macOS only: unset it.')
  const endpoint = dynamodb ?? environment.AWS_ENDPOINT_URL_DYNAMODB
  return {
    port: portOf(PORT),
    ...(STAGE && { stage: stageOf(STAGE) }),
    dataDir: resolve(cwd, DATA_DIR || '.local'),
    memory,
    ...(endpoint && { dynamodb: endpointOf(endpoint) }),
    ...(assets && { kubebuilderAssets: resolve(cwd, assets) }),
    parameters: parametersOf(given, environment),
  }
}

/** An empty variable counts as absent. */
function parametersOf(given: Texts, environment: Texts): ParameterValues {
  const values = Object.entries(deploymentSettings).flatMap(([name, variable]) => {
    const value = given[name] ?? (environment[variable] || undefined)
    return value === undefined ? [] : [`${name}=${value}`]
  })
  return readValues(values)
}

function portOf(text: string | undefined): number {
  if (!text) return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new StartupError('PORT must be a number from 0 to 65535.')
}

function stageOf(text: string): string {
  const error = stageError(text)
  if (error) throw new StartupError(`STAGE ${error}.`)
  return text
}

function endpointOf(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new StartupError('The address of DynamoDB must be an http or https URL.')
}
