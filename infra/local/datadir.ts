/** The folder that the local server keeps its data in: made, tried and locked before anything else happens. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Settings } from './settings.ts'
import { StartupError } from './startuperror.ts'

export interface DataDir {
  /** Absolute path of the folder for the files that a person needs: ca.crt, access-key, kubeconfig. */
  path: string
  /** Where a file that keeps state lies; no path when nothing is kept. */
  stateFile(name: string): { path?: string }
  /** Lets the next server in; with `memory`, removes the folder. */
  release(): Promise<void>
}

/** Throws a StartupError when the folder cannot be written or another server has it. */
export async function openDataDir({ dataDir, memory }: Pick<Settings, 'dataDir' | 'memory'>): Promise<DataDir> {
  if (memory) {
    const path = await mkdtemp(join(tmpdir(), 'keyplane-'))
    return { path, stateFile: () => ({}), release: () => rm(path, { recursive: true, force: true }) }
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(dataDir, error.code)
  })
  const unlock = lock(dataDir)
  return { path: dataDir, stateFile: (name) => ({ path: join(dataDir, name) }), release: async () => unlock() }
}

const unwritable = (dataDir: string, code: string | undefined): StartupError =>
  new StartupError(`The data folder ${dataDir} cannot be written (${code}): name another one in DATA_DIR.`)

const SQLITE_BUSY = 5

/**
 * SQLite's lock on an empty database, because the system drops it whenever and however the process ends: a file with a
 * process id would outlive a crash, and in a container every server has the same id.
 */
function lock(dataDir: string): () => void {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(join(dataDir, 'lock'), { timeout: 0 })
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const held = database
    return () => held.close()
  } catch (error) {
    database?.close()
    const { errcode, errstr } = error as { errcode?: number; errstr?: string }
    if (errcode === SQLITE_BUSY)
      throw new StartupError(
        `Another server uses the data folder ${dataDir}: stop it, or name another folder in DATA_DIR.`,
      )
    throw unwritable(dataDir, errstr)
  }
}
