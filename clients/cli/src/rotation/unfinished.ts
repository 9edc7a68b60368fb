/** Keeps the new value of a rotation until it is stored and used, so that the next run continues where a killed one ended. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stateFolder } from '../config/paths.ts'
import { readIfThere, writePrivately } from '../config/privatefile.ts'
import type { Io } from '../io/io.ts'
import { warn } from '../output/messages.ts'

export interface Unfinished {
  server: string
  name: string
  /** The new value. */
  key: string
  /** When the run began that made the value. */
  begun: string
  /** How long the old value works after the first use of the new one. */
  overlapSeconds: number
  /** When the server made the value pending, as it says. Absent: its answer is not known, and nobody else has the value. */
  requestedAt?: string
  /** Whether the command has stored the value. */
  stored?: boolean
}

/** Returns the file for a key of a server. */
export function unfinishedFile(io: Pick<Io, 'env'>, server: string, name: string): string {
  const hash = createHash('sha256').update(`${server}\n${name}`).digest('hex')
  return join(stateFolder(io), 'rotations', `${hash}.json`)
}

/** Returns the rotation in the file; undefined if there is none. A file that is not valid counts as none, with a warning. */
export async function readUnfinished(io: Io, file: string): Promise<Unfinished | undefined> {
  const text = await readIfThere(file)
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as Partial<Unfinished> | null
    if (typeof value?.key === 'string' && typeof value.overlapSeconds === 'number') return value as Unfinished
  } catch {
    // Said below. The error of the parser quotes the text.
  }
  warn(io, `${file} is not valid and is ignored`)
  return undefined
}

export async function writeUnfinished(file: string, unfinished: Unfinished): Promise<void> {
  await writePrivately(file, `${JSON.stringify(unfinished)}\n`)
}

export const forget = (file: string): Promise<void> => rm(file, { force: true })
