/** Packages the functions for the local server, and says why it cannot. */
import { join } from 'node:path'
import { ensurePackaged, type Packaged, type Say } from '../package.ts'
import { codeOf, reasonOf } from './host/fileproblem.ts'
import { StartupError } from './host/startuperror.ts'

interface Packaging {
  say: Say
  /** Ends the packager. */
  signal: AbortSignal
  root?: string
}

/** Returns the package, made anew if sources have changed. Throws a StartupError. */
export async function packageFunctions({
  root = join(import.meta.dirname, '..', '..'),
  ...options
}: Packaging): Promise<Packaged> {
  try {
    return await ensurePackaged({ quiet: true, root, ...options })
  } catch (error) {
    throw packagingProblem(error, root)
  }
}

/** The codes of a folder in which somebody else may write, or that can be written elsewhere. */
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS']

/** Returns why the functions cannot be packaged: a sentence, or all that the packager says. */
export function packagingProblem(error: unknown, root: string): StartupError {
  const code = codeOf(error, { path: join(root, '.local', 'package.lock'), what: 'file' })
  if (code === undefined) return new StartupError(`The functions cannot be packaged: ${textOf(error)}`, error)
  const [reason] = reasonOf(code)
  if (!FORBIDDEN.includes(code))
    return new StartupError(`The functions cannot be packaged in ${root}, ${reason}.`, error)
  return new StartupError(
    `The functions in ${root} are not packaged, and cannot be, ${reason}: run npm run package there once with permission to write, and name a folder that can be written in DATA_DIR.`,
    error,
  )
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).trimEnd()
