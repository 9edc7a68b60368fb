/**
 * State that survives a restart: one JSON file per endpoint, replaced as a whole.
 * A change is acknowledged only when it is on disk: write beside it, fsync, rename, fsync of the folder.
 */
import { createHash } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StartupError } from './startuperror.ts'

export interface Stored<State> {
  /** What was last committed. Not to be written to. */
  readonly state: State
  /** Runs `mutate` on a copy, makes the copy durable, then shows it. One after another; when `mutate` throws, nothing happened. */
  change<Result>(mutate: (draft: State) => Result): Promise<Result>
}

/** Opens the file, or keeps everything in memory when `path` is undefined. A damaged file is a StartupError. */
export async function openStored<State>(path: string | undefined, empty: State): Promise<Stored<State>> {
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
        if (path !== undefined) await writeDurably(path, sealed(draft))
        state = draft
        return result
      })
      queue = turn.catch(() => {})
      return turn
    },
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The digest is what tells a flipped bit inside a string from data. */
const sealed = (state: unknown): string => {
  const text = JSON.stringify(state)
  return `{"sha256":"${digest(text)}","state":${text}}\n`
}

async function readState<State>(path: string): Promise<State | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartupError(`The data file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, error)
  }
  try {
    const file = JSON.parse(text) as { sha256: string; state: State }
    if (file.sha256 === digest(JSON.stringify(file.state))) return file.state
  } catch {}
  throw new StartupError(
    `The data file ${path} is damaged: restore it from a copy, or remove the folder ${dirname(path)} to start afresh.`,
  )
}

/** Replaces `path` (mode 0600 unless told): after the promise resolves, the new content survives a crash; before, the old one does. */
export async function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  // One name, so that a crash leaves one file at most; nobody else writes here.
  const beside = `${path}.new`
  try {
    const file = await open(beside, 'w', mode)
    try {
      await file.chmod(mode)
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
