/** Creates and locks the folder in which the local server stores its data, before anything else starts. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from '../exclusive.ts'
import { StartupError } from './host/startuperror.ts'
import type { Settings } from './settings.ts'

export interface DataDir {
  /** Absolute path of the folder, which also contains the files for clients: ca.crt, access-key, kubeconfig. */
  path: string
  /** Returns the path of a state file; no path with `memory`. */
  stateFile(name: string): { path?: string }
  /** Releases the lock; with `memory`, removes the folder. */
  release(): Promise<void>
}

/** Throws a StartupError when the folder is not writable or another server uses it. */
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

function lock(dataDir: string): () => void {
  let unlock: (() => void) | undefined
  try {
    unlock = takeLock(join(dataDir, 'lock'))
  } catch (error) {
    throw unwritable(dataDir, (error as { errstr?: string }).errstr)
  }
  if (unlock !== undefined) return unlock
  throw new StartupError(`Another server uses the data folder ${dataDir}: stop it, or name another folder in DATA_DIR.`)
}
