/** Reads and writes files that only their owner may read. */
import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asSentence } from '../../../core/src/answers.ts'
import { type Made, makeFolder, replaceFile } from '../../../core/src/files/privatefiles.ts'
import { CliError } from '../io/errors.ts'
import { isMounted, reasonOf } from '../io/filefailure.ts'

/** Returns the text of a file, or undefined if there is none. Throws a CliError if it cannot be read, with the way out if there is one. */
export async function readIfThere(file: string, wayOut?: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, error, wayOut)
  }
}

/** Replaces a file that only its owner may read, and makes its folder. Throws a CliError if it cannot be written. */
export async function writePrivately(file: string, text: string): Promise<Made> {
  try {
    await makeFolder(dirname(file))
    return await replaceFile(file, text)
  } catch (error) {
    throw unwritable(file, error)
  }
}

/**
 * Makes the folder of a file that will be written after the server has been asked. Throws a CliError with the way out if it cannot be
 * written.
 */
export async function demandWritable(file: string, wayOut: string): Promise<void> {
  try {
    await makeFolder(dirname(file))
    await access(dirname(file), constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unwritable(file, error, wayOut)
  }
}

export const unreadable = (file: string, error: unknown, hint?: string): CliError => failed('read', file, error, hint)

export const unwritable = (file: string, error: unknown, hint?: string): CliError => failed('write', file, error, hint)

const failed = (what: string, file: string, error: unknown, hint: string | undefined): CliError => {
  const wayOut = isMounted(error)
    ? `Mount its folder ${dirname(file)} instead: a mounted file cannot be replaced.`
    : hint
  return new CliError(asSentence(`Cannot ${what} ${file}: ${reasonOf(error as Error)}`), {
    cause: error,
    ...(wayOut !== undefined && { hint: wayOut }),
  })
}
