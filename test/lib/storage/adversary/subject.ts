/** Loads copies of lib/storage with small edits: other constants, or without a rule. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Subject } from './schedule.ts'

/** Replaces a text that occurs exactly once in a file of lib/storage. */
export interface Edit {
  file: string
  from: string
  to: string
}

/** Makes rare events frequent: settling, several log partitions, watches that are behind, full pages. */
export const hurried: readonly Edit[] = [
  { file: 'protocol/constants.ts', from: 'settleEvery = 16', to: 'settleEvery = 3' },
  { file: 'protocol/constants.ts', from: 'settleBehind = 64', to: 'settleBehind = 3' },
  { file: 'protocol/constants.ts', from: 'settleAhead = 100', to: 'settleAhead = 12' },
  { file: 'protocol/constants.ts', from: 'pollSlots = 512', to: 'pollSlots = 6' },
  { file: 'keys.ts', from: 'bucketSize = 64', to: 'bucketSize = 8' },
  { file: 'protocol/constants.ts', from: 'pageBytes = 8 * 1024 * 1024', to: 'pageBytes = 400' },
]

const lib = fileURLToPath(new URL('../../../../lib/', import.meta.url))

/** Loads an edited copy and removes it from the disk. */
export async function edited(edits: readonly Edit[]): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'storage-'))
  try {
    for (const name of ['meta', 'storage']) await cp(join(lib, name), join(folder, name), { recursive: true })
    for (const { file, from, to } of edits) {
      const path = join(folder, 'storage', file)
      const parts = (await readFile(path, 'utf8')).split(from)
      if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`)
      await writeFile(path, parts.join(to))
    }
    const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, 'storage', file)).href)
    const [{ storageOver }, { Fault }] = await Promise.all([load('protocol/storage.ts'), load('items.ts')])
    return { storageOver, Fault }
  } finally {
    await rm(folder, { recursive: true })
  }
}
