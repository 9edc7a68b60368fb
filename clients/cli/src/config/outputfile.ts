/** Writes the files that a person names for results. They may hold secrets, so only their owner can read them. */
import { access, constants, lstat, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CliError, UsageError } from '../io/errors.ts'
import { reasonOf } from '../io/filefailure.ts'
import { writePrivately } from './privatefile.ts'

const TO_STANDARD_OUTPUT = 'Leave the option out to write to standard output.'

/**
 * Replaces the file by rename, so that readers see the old text or the new one. Of a symbolic link it replaces the target. Throws a
 * UsageError for a device, a pipe or a folder.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  await writePrivately(await regularFile(file), text)
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
    throw new CliError(`Cannot write ${file}: ${why}.`, { cause: error })
  })
  return path
}

/** Like `outputFile`, for a file that holds the only copy of something: it must not exist, so that none is lost. */
export async function newFile(file: string): Promise<string> {
  const path = await outputFile(file)
  if ((await lstat(path).catch(() => undefined)) === undefined) return path
  throw new UsageError(`${file} exists, and is not overwritten.`, 'Give another file, or remove this one first.')
}

/** Returns the absolute path of the file itself, which need not exist. Throws a UsageError unless it is a regular file. */
export async function regularFile(file: string): Promise<string> {
  const path = await realpath(file).catch(() => resolve(file))
  const stats = await lstat(path).catch(() => undefined)
  if (stats === undefined || stats.isFile()) return path
  throw new UsageError(`${file} is not a regular file.`, TO_STANDARD_OUTPUT)
}
