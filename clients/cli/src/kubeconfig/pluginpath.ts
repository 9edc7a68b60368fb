/** Tells whether kubectl will find this program as its plugin. */
import { dirname, join } from 'node:path'
import type { Io } from '../io/io.ts'
import { isThere, pathOf } from '../io/program.ts'
import { warn } from '../output/messages.ts'

/** The folder that npm adds to the PATH of what it runs, such as `npx keyplane`. kubectl runs without it. */
const OF_NPM = join('node_modules', '.bin')

/** Warns if `keyplane` is not on the PATH of the user. */
export async function warnUnlessOnPath(io: Io, platform = process.platform): Promise<void> {
  const isByNpm = io.env.npm_execpath !== undefined
  const folders = pathOf(io.env, platform).filter((folder) => !(isByNpm && folder.endsWith(OF_NPM)))
  if (await isThere('keyplane', folders, io.env, platform)) return
  const folder = await folderOfCommand(io, platform)
  warn(io, `kubectl runs keyplane, but will not find it: install it, or add ${folder} to the PATH`)
}

/**
 * Returns the folder in which shells find this program. On Windows npm writes a command that starts the file in the package: into
 * node_modules/.bin or, of a global installation, beside node_modules.
 */
async function folderOfCommand({ program, env }: Io, platform: NodeJS.Platform): Promise<string> {
  if (platform !== 'win32') return dirname(program)
  const modules = join(dirname(program), '..', '..')
  const local = join(modules, '.bin')
  return (await isThere('keyplane', [local], env, platform)) ? local : dirname(modules)
}
