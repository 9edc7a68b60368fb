/** Creates and locks the folder in which the local server stores its data, before anything else starts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../clients/core/src/files/privatefiles.ts'
import { takeLock } from '../exclusive.ts'
import { fileProblem, isDamaged } from './host/fileproblem.ts'
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
    const path = await mkdtemp(join(tmpdir(), 'keyplane-')).catch((error: unknown) => {
      throw fileProblem(error, { path: tmpdir(), what: 'folder', variable: 'TMPDIR' }) ?? error
    })
    return { path, stateFile: () => ({}), release: () => rm(path, { recursive: true, force: true }) }
  }
  await makeFolder(dataDir).catch((error: unknown) => {
    throw fileProblem(error, { path: dataDir, what: 'folder' }) ?? error
  })
  const unlock = lock(dataDir)
  return { path: dataDir, stateFile: (name) => ({ path: join(dataDir, name) }), release: async () => unlock() }
}

function lock(dataDir: string): () => void {
  const path = join(dataDir, 'lock')
  let unlock: (() => void) | undefined
  try {
    unlock = takeLock(path)
  } catch (error) {
    if (isDamaged(error as object))
      throw new StartupError(`The lock ${path} is damaged: remove this file, which has no data.`)
    throw fileProblem(error, { path, what: 'file' }) ?? error
  }
  if (unlock !== undefined) return unlock
  throw new StartupError(`Another server uses the data folder ${dataDir}: stop it, or name another folder in DATA_DIR.`)
}
