/**
 * Serves the EventBridge operation that keyplane calls, over AWS's own protocol. There are no rules: every event is appended to
 * a file, and shown. Source: Amazon EventBridge API Reference (2015-10-07), PutEvents.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { isObject } from '../../../lib/meta/value/walk.ts'
import { fileProblem } from '../host/fileproblem.ts'
import { textMember } from './awsinput.ts'
import { type AwsEndpoint, AwsError, type AwsInput, serveAwsJson, type VerifySignature } from './awsjson.ts'

export interface EventBridgeOptions {
  /** The file to append to (mode 0600). Nothing is stored when absent. */
  path?: string
  verify: VerifySignature
  /** Called for every accepted event, with its `Detail`. */
  received(detail: string): void
}

/** AWS's limits: entries in a call, and bytes of all of them. */
const MOST_ENTRIES = 10
const MOST_BYTES = 256 * 1024
const MAX_BODY_BYTES = 2 * 1024 * 1024

interface Answered {
  EventId?: string
  ErrorCode?: string
  ErrorMessage?: string
}

/** Starts the endpoint. Throws a StartupError when the file cannot be written. */
export async function startEventBridge({ path, verify, received }: EventBridgeOptions): Promise<AwsEndpoint> {
  const file = path === undefined ? undefined : await openFile(path)
  const append = file && appender(file)
  const put = async (input: AwsInput) => {
    const accepted: string[] = []
    const Entries = entriesOf(input).map((entry): Answered => {
      const detail = detailOf(entry)
      if (typeof detail !== 'string') return detail
      accepted.push(detail)
      return { EventId: randomUUID() }
    })
    await append?.(accepted.map((detail) => `${detail}\n`).join(''))
    for (const detail of accepted) received(detail)
    return { FailedEntryCount: Entries.length - accepted.length, Entries }
  }
  const operations = new Map([['PutEvents', put]])
  const service = { target: 'AWSEvents', signingName: 'events', operations, maxBodyBytes: MAX_BODY_BYTES }
  const endpoint = await serveAwsJson(service, verify)
  return {
    url: endpoint.url,
    async close() {
      await endpoint.close()
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

/** Returns a function that appends a text as a whole or not at all, one after another. */
function appender(file: FileHandle): (text: string) => Promise<void> {
  let queue: Promise<unknown> = Promise.resolve()
  const append = async (text: string): Promise<void> => {
    const { size } = await file.stat()
    try {
      await file.appendFile(text)
    } catch (error) {
      await file.truncate(size)
      throw error
    }
  }
  return (text) => {
    const turn = queue.then(() => append(text))
    queue = turn.catch(() => {})
    return turn
  }
}

function entriesOf({ Entries }: AwsInput): AwsInput[] {
  const isList = Array.isArray(Entries) && Entries.every(isObject)
  if (!isList || Entries.length === 0 || Entries.length > MOST_ENTRIES) {
    throw new AwsError(
      'ValidationException',
      "1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length between 1 and 10",
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(Entries))
  if (bytes > MOST_BYTES)
    throw new AwsError('ValidationException', 'Total size of the entries in the request is over the limit.')
  return Entries
}

/** Returns the event as one line of JSON, or the error of the entry. */
function detailOf(entry: AwsInput): string | Answered {
  for (const name of ['Source', 'DetailType', 'Detail'] as const) {
    if (!textMember(entry, name, 0, MOST_BYTES)) {
      return {
        ErrorCode: 'InvalidArgument',
        ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      }
    }
  }
  try {
    const detail: unknown = JSON.parse(String(entry.Detail))
    if (isObject(detail)) return JSON.stringify(detail)
  } catch {}
  return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' }
}
