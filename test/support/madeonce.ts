/** Makes folders below .local that later runs, and other processes, use too. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { takeLock } from '../../infra/exclusive.ts'

/** Returns `.local/NAME` of the checkout with what `make` writes. Makes it anew after a failure. */
export async function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(import.meta.dirname, '../../.local', name)
  const stamp = join(folder, '.complete')
  await mkdir(dirname(folder), { recursive: true })
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
