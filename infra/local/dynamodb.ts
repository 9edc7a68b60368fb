/** The embedded DynamoDB: a child process on a free port of 127.0.0.1 that never outlives this one. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from './freeport.ts'
import { startGuarded } from './guardedprocess.ts'
import { StartupError } from './startuperror.ts'

export interface EmbeddedDynamoDBOptions {
  /** Database file, fsynced at every commit; absent = in memory. */
  path?: string
  /** `linux-x64`: of process.platform and process.arch. */
  platform: string
}

export interface EmbeddedDynamoDB {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  url: string
  /** Of the process group. */
  pid: number
  /** Resolves when the process has ended, whoever ended it, with a line that says why. */
  ended: Promise<string>
  close(): Promise<void>
}

/** Another process may take the free port between its choice and its use. */
const ATTEMPTS = 5

/** Throws a StartupError where there is none for the platform, and for a damaged file. */
export async function startEmbeddedDynamoDB(options: EmbeddedDynamoDBOptions): Promise<EmbeddedDynamoDB> {
  const binary = binaryFor(options.platform)
  if (options.path !== undefined) checkFile(options.path)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const child = startGuarded(binary, ['--port', String(port), ...(options.path ? ['--db-path', options.path] : [])])
    if (await child.says('listening'))
      return { url: `http://127.0.0.1:${port}`, pid: child.pid, ended: child.ended, close: child.stop }
    if (attempt === ATTEMPTS) throw new StartupError(`The embedded DynamoDB does not start: ${await child.ended}`)
  }
}

function binaryFor(platform: string): string {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${platform}/dynoxide`)
  } catch (error) {
    throw new StartupError(
      `There is no embedded DynamoDB for ${platform}: start any DynamoDB emulator and name its address in AWS_ENDPOINT_URL_DYNAMODB.`,
      error,
    )
  }
}

/** The emulator stores in SQLite and would notice damage only when it reads it. */
function checkFile(path: string): void {
  if (!existsSync(path)) return
  let verdict: unknown
  try {
    const database = new DatabaseSync(path)
    try {
      verdict = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
    } finally {
      database.close()
    }
  } catch {}
  if (verdict !== 'ok')
    throw new StartupError(
      `The data file ${path} is damaged: restore it from a copy, or remove the folder ${dirname(path)} to start afresh.`,
    )
}
