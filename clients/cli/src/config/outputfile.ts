/** Writes the files that a person names for results. They may hold secrets, so only their owner can read them. */
import { access, constants, lstat, readlink } from 'node:fs/promises'
import { dirname, join, parse, resolve, sep } from 'node:path'
import { asSentence } from '../../../core/src/answers.ts'
import { type Made, type MadeFile, makeFile, removeFile } from '../../../core/src/files/privatefiles.ts'
import { CliError, UsageError } from '../io/errors.ts'
import { reasonOf } from '../io/filefailure.ts'
import { unwritable, writePrivately } from './privatefile.ts'

const TO_STANDARD_OUTPUT = 'Leave the option out to write to standard output.'

/**
 * Replaces the file by rename, so that readers see the old text or the new one. Of a symbolic link it replaces the target. Throws a
 * UsageError for a device, a pipe, a folder or a link of somebody else.
 */
export async function replaceFile(file: string, text: string): Promise<Made> {
  return writePrivately(await regularFile(file), text)
}

/**
 * Returns the absolute path of the file of an option, which need not exist. Throws a CliError if it cannot be written, before something is
 * done whose result it should take: its folder must exist.
 */
export async function outputFile(file: string): Promise<string> {
  if (file === '-') throw new UsageError('- is not a file.', TO_STANDARD_OUTPUT)
  const path = await regularFile(file)
  const folder = dirname(path)
  await access(folder, constants.W_OK | constants.X_OK).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? `the folder ${folder} does not exist` : reasonOf(error)
    throw new CliError(asSentence(`Cannot write ${file}: ${why}`), { cause: error })
  })
  return path
}

/** Checks what `makeNewFile` demands, and makes nothing. */
export async function demandNewFile(file: string): Promise<void> {
  const path = await outputFile(file)
  if ((await lstat(path).catch(() => undefined)) !== undefined) throw existing(file)
}

/**
 * Makes the file of an option that is to hold the only copy of something, empty and open for writing. Throws a UsageError if something is
 * there already.
 */
export async function makeNewFile(file: string): Promise<MadeFile> {
  const path = await outputFile(file)
  return makeFile(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? existing(file) : unwritable(file, error)
  })
}

/** Writes to the file that `makeNewFile` made, and closes it. The text is on disk then. Throws a CliError. */
export async function fillNewFile({ path, file }: MadeFile, text: string): Promise<void> {
  try {
    await file.writeFile(text)
    await file.sync()
    await file.close()
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Removes the file that `makeNewFile` made, which may still be open. Returns false if another one has taken its place, which stays. */
export async function removeNewFile(made: MadeFile): Promise<boolean> {
  await made.file.close().catch(() => {})
  return removeFile(made)
}

const existing = (file: string): UsageError =>
  new UsageError(`${file} exists, and is not overwritten.`, 'Give another file, or remove this one first.')

/** Returns the absolute path of the file itself, which need not exist. Throws a UsageError unless it is a regular file. */
export async function regularFile(file: string, wayOut?: string): Promise<string> {
  const path = await followOwnLinks(resolve(file)).catch((error: unknown) => {
    if (!isLoop(error)) throw error
    throw new CliError(asSentence(`Cannot write ${file}: ${reasonOf(error)}`), {
      ...(wayOut && { hint: wayOut }),
      cause: error,
    })
  })
  const [stats, given] = await Promise.all([path, resolve(file)].map((one) => lstat(one).catch(() => undefined)))
  // A link that leads nowhere, such as /dev/stdout into a pipe, is no new file.
  if (stats ? stats.isFile() : !given?.isSymbolicLink()) return path
  throw new UsageError(`${file} is not a regular file.`, TO_STANDARD_OUTPUT)
}

/** As many as Linux follows. */
const MOST_LINKS = 40

const isLoop = (error: unknown): error is NodeJS.ErrnoException => (error as NodeJS.ErrnoException).code === 'ELOOP'

/**
 * Returns the path without symbolic links. Throws a UsageError for a link of somebody else, who would choose where a secret is written
 * and what it overwrites: in a shared folder, anybody can make one. Links of the system are as good as one's own. Throws ELOOP as Linux
 * does.
 */
async function followOwnLinks(path: string, followed = 0): Promise<string> {
  if (followed > MOST_LINKS) throw Object.assign(new Error(`too many symbolic links: ${path}`), { code: 'ELOOP' })
  const { root } = parse(path)
  const steps = path.slice(root.length).split(sep)
  for (let at = root, index = 0; index < steps.length; index++) {
    const next = join(at, steps[index] ?? '')
    const stats = await lstat(next).catch(() => undefined)
    if (stats === undefined) return path
    if (stats.isSymbolicLink()) {
      const me = process.getuid?.()
      if (me !== undefined && stats.uid !== me && stats.uid !== 0) {
        throw new UsageError(`${next} is a symbolic link of another user, and is not followed.`, 'Give another file.')
      }
      const target = resolve(at, await readlink(next))
      return followOwnLinks(join(target, ...steps.slice(index + 1)), followed + 1)
    }
    at = next
  }
  return path
}
