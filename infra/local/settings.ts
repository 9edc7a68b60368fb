/** Reads the settings of the local server from the environment. */
import { resolve } from 'node:path'
import { readConfig } from '../../lib/server/process/config.ts'
import { formOf } from '../settings/setting.ts'
import { settings } from '../settings/table.ts'
import { accepts, stageError } from '../settings/values.ts'
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
  /** The setting `signing-keys` of a deployment. */
  signingKeys?: string
  /** Variables with which people sign in to the console with an identity provider. */
  console?: Readonly<Record<string, string>>
}

const DEFAULT_PORT = 8443

/** The variables of the function that serves the console. */
const CONSOLE = ['ISSUER', 'CLIENT_ID', 'CREDENTIAL', 'SCOPES', 'ORIGINS'].map((name) => `CONSOLE_${name}`)

/** Reads the options and the variables that main.ts lists. Throws a StartupError. */
export function readSettings(
  { memory, dynamodb }: { memory: boolean; dynamodb?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
  cwd: string,
  platform = process.platform,
): Settings {
  const { PORT, STAGE, DATA_DIR, SIGNING_KEYS, KUBEBUILDER_ASSETS: assets } = environment
  if (assets && platform === 'win32')
    throw new StartupError('KUBEBUILDER_ASSETS makes the demo a real cluster on Linux and macOS only: unset it.')
  const endpoint = dynamodb ?? environment.AWS_ENDPOINT_URL_DYNAMODB
  return {
    port: portOf(PORT),
    ...(STAGE && { stage: stageOf(STAGE) }),
    dataDir: resolve(cwd, DATA_DIR || '.local'),
    memory,
    ...(SIGNING_KEYS && { signingKeys: signingKeysOf(SIGNING_KEYS) }),
    ...(endpoint && { dynamodb: endpointOf(endpoint) }),
    ...(assets && { kubebuilderAssets: resolve(cwd, assets) }),
    ...consoleOf(environment),
  }
}

function consoleOf(environment: Readonly<Record<string, string | undefined>>): Pick<Settings, 'console'> {
  const given = CONSOLE.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : []))
  if (given.length === 0) return {}
  const variables = Object.fromEntries(given)
  try {
    // Reading it checks that nothing is missing.
    void readConfig(variables).consoleSignIn
  } catch (error) {
    throw new StartupError(`The ${(error as Error).message}.`)
  }
  return { console: variables }
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

function signingKeysOf(text: string): string {
  const setting = settings.get('signing-keys')
  if (setting && accepts(setting, text)) return text
  throw new StartupError(`SIGNING_KEYS must be ${setting && formOf(setting)}.`)
}

function endpointOf(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  throw new StartupError('The address of DynamoDB must be an http or https URL.')
}
