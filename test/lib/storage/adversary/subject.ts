/** Copies of lib/storage with small changes in their text: other constants, or a rule taken out. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Subject } from './schedule.ts'

/** Replaces a text that stands exactly once in a file of lib/storage. */
export interface Edit {
  file: string
  from: string
  to: string
}

/** Constants that make rare things frequent: settling, several log partitions, watches that are behind, pages that are full. */
export const hurried: readonly Edit[] = [
  { file: 'protocol/constants.ts', from: 'settleEvery = 16', to: 'settleEvery = 3' },
  { file: 'protocol/constants.ts', from: 'settleBehind = 64', to: 'settleBehind = 3' },
  { file: 'protocol/constants.ts', from: 'settleAhead = 100', to: 'settleAhead = 12' },
  { file: 'protocol/constants.ts', from: 'pollSlots = 512', to: 'pollSlots = 6' },
  { file: 'keys.ts', from: 'bucketSize = 64', to: 'bucketSize = 8' },
  { file: 'protocol/constants.ts', from: 'pageBytes = 8 * 1024 * 1024', to: 'pageBytes = 400' },
]

const lib = fileURLToPath(new URL('../../../../lib/', import.meta.url))

/** The copy, loaded; it is removed from the disk at once. */
export async function edited(edits: readonly Edit[]): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'storage-'))
  try {
    for (const room of ['meta', 'storage']) await cp(join(lib, room), join(folder, room), { recursive: true })
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
