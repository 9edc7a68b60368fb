/** Makes folders below .local that later runs, and other processes, use too. */
import { existsSync } from 'node:fs'
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { takeLock } from '../../infra/exclusive.ts'

/**
 * Returns `.local/NAME` of the checkout with what `make` writes. Makes it anew after a failure. The path has no symbolic links:
 * programs of a Python environment begin with the path at which they were installed, and .ci/run links to a folder that
 * outlives the checkout.
 */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const path = join(import.meta.dirname, '../../.local', name)
  await mkdir(dirname(path), { recursive: true })
  const folder = join(await realpath(dirname(path)), basename(path))
  const stamp = join(folder, '.complete')
  let unlock = takeLock(`${folder}.lock`)
  while (unlock === undefined) {
    await delay(100)
    unlock = takeLock(`${folder}.lock`)
  }
  try {
    if (existsSync(stamp)) return folder
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    await make(folder)
    await writeFile(stamp, '')
    return folder
  } finally {
    unlock()
  }
}
