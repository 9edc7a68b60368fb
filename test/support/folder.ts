/** Makes folders that tests leave behind for nobody. */
import { mkdtempSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes a folder, and deletes it after the tests of this file or this `describe`. */
export function testFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keyplane-')))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
