/** Finds the folders and files of this program by the rules of the operating system. */
import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

type Environment = Pick<Io, 'env'>

interface Place {
  /** The variable of the XDG Base Directory Specification, and its default below the home folder. */
  xdg: readonly [variable: string, ...fallback: string[]]
  /** The variable of Windows, and the folder below that of this program: Windows has one variable for several places. */
  windows: readonly [variable: string, ...below: string[]]
}

const CONFIG: Place = { xdg: ['XDG_CONFIG_HOME', '.config'], windows: ['APPDATA'] }
const CACHE: Place = { xdg: ['XDG_CACHE_HOME', '.cache'], windows: ['LOCALAPPDATA', 'cache'] }
const STATE: Place = { xdg: ['XDG_STATE_HOME', '.local', 'state'], windows: ['LOCALAPPDATA', 'state'] }

/** Returns the file of the contexts: `KEYPLANE_CONFIG`, else config.json below `$XDG_CONFIG_HOME/keyplane`. */
export function configFile({ env }: Environment, platform = process.platform): string {
  if (env.KEYPLANE_CONFIG) return env.KEYPLANE_CONFIG
  return pathsOf(platform).join(folder(env, CONFIG, platform), 'config.json')
}

/** Returns the folder of cached credentials. Everything in it may be deleted. */
export const cacheFolder = ({ env }: Environment, platform = process.platform): string => folder(env, CACHE, platform)

/** Returns the folder of what a running command must find again after it was killed. */
export const stateFolder = ({ env }: Environment, platform = process.platform): string => folder(env, STATE, platform)

const pathsOf = (platform: NodeJS.Platform) => (platform === 'win32' ? win32 : posix)

/** A relative path in an XDG variable is ignored, as its specification demands. */
function folder(env: NodeJS.ProcessEnv, { xdg, windows }: Place, platform: NodeJS.Platform): string {
  const { isAbsolute, join } = pathsOf(platform)
  const [variable, ...fallback] = xdg
  const given = env[variable]
  if (given && isAbsolute(given)) return join(given, 'keyplane')
  const [windowsVariable, ...below] = windows
  const appData = env[windowsVariable]
  if (platform === 'win32' && appData) return join(appData, 'keyplane', ...below)
  return join(homeFolder(env.HOME, `set HOME or ${variable}.`), ...fallback, 'keyplane')
}

/** Returns the home folder: the given one, else that of the user. Throws a CliError with the way out if there is none. */
export function homeFolder(given: string | undefined, wayOut: string): string {
  try {
    const home = given || homedir()
    if (home) return home
  } catch {
    // The user of a container may have no entry in /etc/passwd.
  }
  throw new CliError(`There is no home folder: ${wayOut}`)
}

/** The way out where the contexts cannot be kept. */
export const NO_CONFIG =
  'Set KEYPLANE_CONFIG to a file in a folder that you can write. Or set KEYPLANE_URL and KEYPLANE_KEY, which need no login.'
/** The way out where the state of a rotation cannot be kept. */
export const NO_STATE = 'Set XDG_STATE_HOME to a folder that you can write and that outlives this run.'
/** The way out where a kube config cannot be changed. */
export const NO_KUBECONFIG =
  'Set KUBECONFIG to a file in a folder that you can write, or give --output FILE in place of --merge.'
