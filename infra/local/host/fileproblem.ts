/**
 * Says in one sentence why the server cannot use a file or a folder of its data, and what helps. Only damage and the data of another
 * release are reasons to remove data.
 */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartupError } from './startuperror.ts'

const makeRoom = 'make room, or name a folder on another disk in DATA_DIR'
const askOwner = 'run the command as its owner, or name another folder in DATA_DIR'
const goElsewhere = 'name another folder in DATA_DIR'

/** What the codes of the system mean, and what helps. */
const REASONS: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOSPC: ['because no space is left on its disk', makeRoom],
  EDQUOT: ['because your disk quota is used up', makeRoom],
  EFBIG: ['because a limit on the size of files is reached', 'raise it (ulimit -f)'],
  EACCES: ['because you have no permission', askOwner],
  EPERM: ['because you have no permission', askOwner],
  EROFS: ['because its file system is read-only', goElsewhere],
  EMFILE: ['because too many files are open', 'raise the limit (ulimit -n)'],
  ENFILE: ['because too many files are open on this machine', 'end other programs'],
  EIO: ['because its disk fails', 'check it, or name a folder on another disk in DATA_DIR'],
  EEXIST: ['because it is not a folder', goElsewhere],
  ENOTDIR: ['because a part of its path is not a folder', goElsewhere],
  EISDIR: ['because it is a folder', goElsewhere],
}

/** Result codes of SQLite. Source: https://www.sqlite.org/rescode.html */
const CORRUPT = 11
const FULL = 13
const NOTADB = 26

/** The bytes that the server must be able to write. SQLite needs as many for a new database. */
const LEAST_ROOM = 64 * 1024

/** The members of errors of the file system (`code`, `syscall`) and of SQLite (`errcode`, `errstr`). */
interface Failure {
  code?: string
  syscall?: string
  errcode?: number
  errstr?: string
  cause?: unknown
}

export interface Place {
  path: string
  what: 'file' | 'folder'
  /** The variable that names the folder. */
  variable?: 'DATA_DIR' | 'TMPDIR'
}

/** Reports whether a file could not grow. It can again, once somebody has made room. */
export const hasNoRoom = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as Failure | undefined)?.code ?? '')

/** Reports whether SQLite has read something else than a database. */
export const isDamaged = ({ errcode = 0 }: Failure): boolean => [CORRUPT, NOTADB].includes(errcode & 0xff)

/** Returns the sentence for an error of the file system or of SQLite, also if it is the cause of another one; undefined for others. */
export function fileProblem(error: unknown, place: Place): StartupError | undefined {
  const code = codeOf(error, place)
  if (code === undefined) return undefined
  if (code === DAMAGED) return damaged(place.path, error)
  const { path, what, variable = 'DATA_DIR' } = place
  const [reason, remedy] = reasonOf(code)
  return new StartupError(
    `The data ${what} ${path} cannot be used, ${reason}: ${remedy.replace('DATA_DIR', variable)}.`,
    error,
  )
}

const DAMAGED = 'damaged'

/** Returns the code of an error as the system has it, or that a file is damaged; undefined for errors that are of no file. */
function codeOf(error: unknown, place: Pick<Place, 'path' | 'what'>): string | undefined {
  for (let one = error as Failure | undefined; typeof one === 'object'; one = one.cause as Failure | undefined) {
    if (one.errcode !== undefined) return isDamaged(one) ? DAMAGED : codeOfSqlite(one.errcode, place)
    if (one.code === 'EMFILE' || one.code === 'ENFILE') return one.code
    const isOfFiles = one.syscall !== undefined && !/^(spawn|listen|connect|bind)/.test(one.syscall)
    if (one.code !== undefined && isOfFiles) return one.code
  }
  return undefined
}

/** Returns what a code means, beginning with "because", and what helps. */
const reasonOf = (code: string): readonly [reason: string, remedy: string] =>
  REASONS[code] ?? [`because of the error ${code}`, goElsewhere]

/** Returns the sentence for a file whose content is damaged. */
export const damaged = (path: string, cause?: unknown): StartupError =>
  new StartupError(
    `The data file ${path} is damaged: restore it from a copy, or remove the folder ${dirname(path)} to start afresh.`,
    cause,
  )

/** Returns the sentence for a file that this release cannot read. */
export const ofAnotherRelease = (path: string, cause?: unknown): StartupError =>
  new StartupError(
    `The data file ${path} was written by another release: name another folder in DATA_DIR, or remove the folder ${dirname(path)} to start afresh.`,
    cause,
  )

/** Returns the code of the system. SQLite keeps most of them to itself, so this does what it has done: opens its files and writes. */
function codeOfSqlite(errcode: number, { path, what }: Pick<Place, 'path' | 'what'>): string {
  if ((errcode & 0xff) === FULL) return 'ENOSPC'
  const file = what === 'file' ? path : join(path, 'probe')
  const held: number[] = []
  try {
    // All at once, and any file in the place of a missing one: the process may have too many files open.
    for (const one of [file, `${file}-wal`, `${file}-shm`])
      held.push(existsSync(one) ? openSync(one, 'r+') : openSync(import.meta.filename, 'r'))
    writeFileSync(`${file}.new`, Buffer.alloc(LEAST_ROOM), { mode: 0o600, flush: true })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  } finally {
    for (const one of held) closeSync(one)
    rmSync(`${file}.new`, { force: true })
  }
  return `${errcode} of SQLite`
}
