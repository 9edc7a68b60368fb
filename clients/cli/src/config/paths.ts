/** Finds the folders and files of this program by the rules of the operating system. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

type Environment = Pick<Io, 'env'>

/** Returns the file of the contexts: `KEYPLANE_CONFIG`, else config.json below `$XDG_CONFIG_HOME/keyplane`. */
export function configFile({ env }: Environment): string {
  if (env.KEYPLANE_CONFIG) return env.KEYPLANE_CONFIG
  return join(base(env, 'XDG_CONFIG_HOME', 'APPDATA', '.config'), 'keyplane', 'config.json')
}

/** Returns the folder of cached credentials. Everything in it may be deleted. */
export const cacheFolder = ({ env }: Environment): string =>
  join(base(env, 'XDG_CACHE_HOME', 'LOCALAPPDATA', '.cache'), 'keyplane')

/** Returns the folder of what a running command must find again after it was killed. */
export const stateFolder = ({ env }: Environment): string =>
  join(base(env, 'XDG_STATE_HOME', 'LOCALAPPDATA', join('.local', 'state')), 'keyplane')

/** A relative path in an XDG variable is ignored, as its specification demands. */
function base(env: NodeJS.ProcessEnv, xdg: string, windows: string, below: string): string {
  const given = env[xdg]
  if (given && isAbsolute(given)) return given
  const appData = env[windows]
  if (process.platform === 'win32' && appData) return appData
  const home = env.HOME || homedir()
  if (!home) throw new CliError(`There is no home folder: set HOME or ${xdg}.`)
  return join(home, below)
}
