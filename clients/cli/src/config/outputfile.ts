/** Writes the files that a person names for results. They may hold secrets, so only their owner can read them. */
import { access, constants, lstat, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CliError, UsageError } from '../io/errors.ts'
import { writePrivately } from './privatefile.ts'

/**
 * Replaces the file by rename, so that readers see the old text or the new one. Of a symbolic link it replaces the target. Throws a
 * UsageError for a device, a pipe or a folder.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  await writePrivately(await regularFile(file), text)
}

/** Throws a CliError if the file cannot be written, before something is done whose result it should take. */
export async function checkWritable(file: string): Promise<void> {
  const folder = dirname(await regularFile(file))
  await access(folder, constants.W_OK | constants.X_OK).catch((error: Error) => {
    throw new CliError(`Cannot write to ${folder}: ${error.message}`, { cause: error })
  })
}

/** Returns the absolute path of the file itself, which need not exist. Throws a UsageError unless it is a regular file. */
export async function regularFile(file: string): Promise<string> {
  const path = await realpath(file).catch(() => resolve(file))
  const stats = await lstat(path).catch(() => undefined)
  if (stats === undefined || stats.isFile()) return path
  throw new UsageError(`${file} is not a regular file.`, 'Leave the option out to write to standard output.')
}
