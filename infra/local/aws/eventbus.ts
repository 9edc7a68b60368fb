/** Receives the events that EventBridge receives in AWS. There are no rules: every event is appended to a file, and shown. */
import { type FileHandle, open } from 'node:fs/promises'
import type { Bus } from '../../../lib/keys/events/publish.ts'
import { fileProblem } from '../host/fileproblem.ts'

export interface LocalBus extends Bus {
  close(): Promise<void>
}

/**
 * Opens the bus, which appends to the file (mode 0600) if it has a path. `received` is called for every event, with its JSON text. Throws a
 * StartupError when the file cannot be written.
 */
export async function openLocalBus(path: string | undefined, received: (detail: string) => void): Promise<LocalBus> {
  const file = path === undefined ? undefined : await openFile(path)
  let queue: Promise<unknown> = Promise.resolve()
  return {
    async put(entries) {
      const text = entries.map(({ detail }) => `${detail}\n`).join('')
      const turn = queue.then(() => file && append(file, text))
      queue = turn.catch(() => {})
      await turn
      for (const { detail } of entries) received(detail)
      return entries.map(() => undefined)
    },
    async close() {
      await queue
      await file?.close()
    },
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'a', 0o600)
    await file.chmod(0o600)
    return file
  } catch (error) {
    throw fileProblem(error, { path, what: 'file' }) ?? error
  }
}

/** Appends a text as a whole or not at all. */
async function append(file: FileHandle, text: string): Promise<void> {
  const { size } = await file.stat()
  try {
    await file.appendFile(text)
  } catch (error) {
    await file.truncate(size)
    throw error
  }
}
