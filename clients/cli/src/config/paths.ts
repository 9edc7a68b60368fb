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
  const home = env.HOME || homedir()
  if (!home) throw new CliError(`There is no home folder: set HOME or ${variable}.`)
  return join(home, ...fallback, 'keyplane')
}
