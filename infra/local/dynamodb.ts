/** The embedded DynamoDB: a child process on a free port of 127.0.0.1 that never outlives this one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from './freeport.ts'
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
  /** Resolves when the process has ended, whoever ended it. */
  ended: Promise<void>
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
    const child = guarded(binary, ['--port', String(port), ...(options.path ? ['--db-path', options.path] : [])])
    const ended = once(child, 'exit').then(() => undefined)
    const failure = await firstWords(child)
    if (failure === undefined) {
      return {
        url: `http://127.0.0.1:${port}`,
        pid: child.pid ?? 0,
        ended,
        async close() {
          child.stdin?.end()
          await ended
        },
      }
    }
    if (attempt === ATTEMPTS) throw new StartupError(`The embedded DynamoDB does not start: ${failure}`)
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

/**
 * A shell stands between the two, waiting for the end of its input: that comes when this process closes it and also when
 * this process is killed, which no handler of its own could notice. It also keeps the file from others (umask).
 */
const GUARD = `
umask 077
exec 3<&0
"$@" </dev/null 3<&- & child=$!
{ read -r _ <&3; kill -TERM $child; sleep 2; kill -KILL $child; } 2>/dev/null & watcher=$!
exec 3<&-
wait $child; status=$?
kill $watcher 2>/dev/null
exit $status
`

/** In a process group of its own: Ctrl-C is for the server, which still needs its database while it stops. */
const guarded = (binary: string, args: readonly string[]): ChildProcess =>
  spawn('/bin/sh', ['-c', GUARD, 'dynamodb', binary, ...args], { stdio: ['pipe', 'ignore', 'pipe'], detached: true })

/** undefined once it listens; else what it said before it ended. */
function firstWords(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (said.includes('listening')) {
        child.stderr?.removeAllListeners('data').resume()
        resolve(undefined)
      }
    })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', () => resolve(said.trim().split('\n')[0] || 'it ended without a word.'))
  })
}
