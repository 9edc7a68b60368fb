/** Tells whether kubectl will find this program as its plugin. */
import { dirname, join } from 'node:path'
import type { Io } from '../io/io.ts'
import { isThere, pathOf } from '../io/program.ts'
import { warn } from '../output/messages.ts'

/** The folder that npm adds to the PATH of what it runs, such as `npx keyplane`. kubectl runs without it. */
const OF_NPM = join('node_modules', '.bin')

/** Warns if `keyplane` is not on the PATH of the user. */
export async function warnUnlessOnPath(io: Io): Promise<void> {
  const isByNpm = io.env.npm_execpath !== undefined
  const folders = pathOf(io.env).filter((folder) => !(isByNpm && folder.endsWith(OF_NPM)))
  if (await isThere('keyplane', folders, io.env)) return
  const folder = dirname(io.program)
  warn(io, `kubectl runs keyplane, but will not find it: install it, or add ${folder} to the PATH`)
}
