/**
 * Stores state that survives a restart, in one JSON file that is replaced as a whole. A change is acknowledged only when it is
 * on disk: write a new file, fsync, rename, fsync of the folder.
 */
import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile } from '../../../clients/core/src/files/privatefiles.ts'
import { damaged, fileProblem } from './fileproblem.ts'

export interface StateFile<State> {
  /** The last committed state. Read-only. */
  readonly state: State
  /** Runs `mutate` on a copy and commits the copy when it is durable. Changes run in sequence; an error discards the copy. */
  change<Result>(mutate: (draft: State) => Result): Promise<Result>
}

/** Opens the file, or keeps the state in memory when `path` is undefined. Throws a StartupError for a damaged file. */
export async function openStored<State>(path: string | undefined, empty: State): Promise<StateFile<State>> {
  let state = (path !== undefined && (await readState<State>(path))) || structuredClone(empty)
  let queue: Promise<unknown> = Promise.resolve()

  return {
    get state() {
      return state
    },
    change(mutate) {
      const turn = queue.then(async () => {
        const draft = structuredClone(state)
        const result = mutate(draft)
        if (path !== undefined) await writeDurably(path, serialize(draft))
        state = draft
        return result
      })
      queue = turn.catch(() => {})
      return turn
    },
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The digest detects a flipped bit inside a string. */
const serialize = (state: unknown): string => {
  const text = JSON.stringify(state)
  return `{"sha256":"${digest(text)}","state":${text}}\n`
}

async function readState<State>(path: string): Promise<State | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fileProblem(error, { path, what: 'file' }) ?? error
  }
  try {
    const file = JSON.parse(text) as { sha256: string; state: State }
    if (file.sha256 === digest(JSON.stringify(file.state))) return file.state
  } catch {}
  throw damaged(path)
}

/** Replaces `path` atomically. The new content survives a crash once the promise resolves; before that, the old content does. */
export async function writeDurably(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  await replaceFile(path, content, mode)
  await syncFolder(dirname(path))
}

/** Makes the names in a folder durable. Windows syncs no folder: NTFS has a journal of its names. */
export async function syncFolder(path: string, platform = process.platform): Promise<void> {
  if (platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
