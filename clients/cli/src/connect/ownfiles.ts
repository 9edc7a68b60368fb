/**
 * Writes the files of `clusters connect`. Each begins with a digest of the rest, so that a repeated command knows its own: it replaces these,
 * and none that somebody has changed or made.
 */
import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TextFile } from '../../../../lib/clusters/connect/recipes.ts'
import { makeFolder, replaceFile } from '../../../core/src/files/privatefiles.ts'
import { readIfThere, unwritable } from '../config/privatefile.ts'
import { UsageError } from '../io/errors.ts'

const MARK = '# Written by keyplane clusters connect. SHA-256 of the rest: '

const marked = (text: string): string => `${MARK}${createHash('sha256').update(text).digest('hex')}\n${text}`

/** Reports whether the text is what this program has written, whatever it was then. */
const isOwn = (text: string): boolean => text.startsWith(MARK) && text === marked(text.slice(text.indexOf('\n') + 1))

/** The files hold no secret, and a control plane may read them as another user. */
const MODE = 0o644

/** Returns those of the files that are not there as they should be. Throws a UsageError if one of them is somebody else's. */
export async function missingFiles(folder: string, files: readonly TextFile[]): Promise<TextFile[]> {
  await demandOwnFolder(folder)
  const missing = await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file.name)
      await demandRegular(path)
      const there = await readIfThere(path)
      if (there === marked(file.text)) return []
      if (there === undefined || isOwn(there)) return [file]
      throw new UsageError(
        `${path} is not as this command has written it, and is not overwritten.`,
        'Remove it, or write to another folder with --out DIR.',
      )
    }),
  )
  return missing.flat()
}

export async function writeFiles(folder: string, files: readonly TextFile[]): Promise<void> {
  try {
    await makeFolder(folder)
    for (const { name, text } of files) await replaceFile(join(folder, name), marked(text), MODE)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/** Throws a UsageError for a folder of somebody else, who could exchange what is written there. */
async function demandOwnFolder(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined)
  const me = process.getuid?.()
  if (found === undefined || (found.isDirectory() && (me === undefined || found.uid === me))) return
  throw new UsageError(`${folder} is not a folder of yours.`, 'Give another one with --out DIR.')
}

/** Throws a UsageError for what is no file, such as a symbolic link, which leads elsewhere. */
export async function demandRegular(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && !found.isFile()) throw new UsageError(`${path} is not a regular file.`)
}
