/** Runs a command with the key that was made for it. Whatever happens, the key ends and its files are deleted. */
import { type Made, removeFile, removeFolder } from '../../../core/src/files/privatefiles.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import type { Target } from '../api/target.ts'
import { readUsage } from '../api/usage.ts'
import { replaceFile } from '../config/outputfile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { clusterEntry, virtualClusterEntry } from '../kubeconfig/clusterentries.ts'
import type { Entry } from '../kubeconfig/entries.ts'
import { note } from '../output/messages.ts'
import { sessionWith } from '../rotation/run.ts'
import { runCommand } from './child.ts'
import { environmentFile, narrowEnvironment } from './environment.ts'
import { fillFolder, makeFolder } from './folder.ts'
import { endRunKey, type RunKey } from './key.ts'
import { reportText } from './report.ts'
import { type Watched, watchKey } from './watch.ts'

/** The shortest life that a token can have, in seconds. */
const SHORTEST_TOKEN = 60

/** Returns the entry of a kube config for the cluster, with a token of the session's key. */
export async function tokenEntry(io: Io, session: Session, target: Target, seconds: number): Promise<Entry> {
  const making = { io, session, way: 'token' as const, life: Math.max(seconds, SHORTEST_TOKEN), file: undefined }
  if (target.kind === 'virtualCluster') return virtualClusterEntry(making, target)
  if (target.kind === 'cluster')
    return clusterEntry(making, target).catch((error: unknown) => withoutAddress(error, target.name))
  throw new CliError('There is no cluster.')
}

/** Says what to do about a cluster whose address is not known. */
function withoutAddress(error: unknown, name: string): never {
  if (!(error instanceof CliError && error.cause instanceof StatusError && error.cause.code === 404)) throw error
  throw new CliError(error.message, {
    exitCode: error.exitCode,
    hint: `keyplane does not know the address of ${name}, or you may not see it. To make it known: keyplane clusters create ${name}`,
    cause: error.cause,
  })
}

export interface Narrow {
  /** With the key of the caller. */
  session: Session
  target: Target
  /** The prefix of the namespaces of projects. */
  prefix: string
  key: RunKey
  /** Seconds. */
  life: number
}

interface Given {
  command: readonly string[]
  /** Variables that are not removed. */
  keep: readonly string[]
  /** The file for the variables of containers. */
  environment: string | undefined
}

/** Runs the command, ends the key with it, and returns its exit code. */
export async function runWithKey(io: Io, narrow: Narrow, { command, keep, environment }: Given): Promise<number> {
  const { session, target, prefix, key, life } = narrow
  let folder: Made | undefined
  let variablesFile: Made | undefined
  let report: string | undefined
  const over = new AbortController()
  try {
    folder = await makeFolder(io)
    const own = { ...sessionWith(io, session, key.value), projectNamespacePrefix: prefix }
    const entry = target.kind === 'management' ? undefined : await tokenEntry(io, own, target, life)
    const variables = await fillFolder(folder.path, own, entry)
    if (environment !== undefined) variablesFile = await replaceFile(environment, environmentFile(variables))
    const env = narrowEnvironment(io.env, { own: variables, keep, secrets: [await session.key()] })
    const watched = watchKey(io, session, key.name, over.signal)
    return await runCommand(io, command, env, async () => {
      over.abort()
      report = await end(io, narrow, watched)
    })
  } finally {
    over.abort()
    if (report === undefined) await endRunKey(session, key).catch(() => {})
    await Promise.all([folder && removeFolder(folder, () => true), variablesFile && removeFile(variablesFile)])
    // After everything else, because the terminal may be gone.
    if (report !== undefined) note(io, report)
  }
}

/** How long the record is waited for, in milliseconds. Ending the key is more urgent. */
const READ_MILLISECONDS = 5000

/** Ends the key, and returns the report. The record goes with the key, so it is read before. */
async function end(io: Io, { session, target, prefix, key }: Narrow, watched: Watched): Promise<string> {
  const seconds = (io.now().getTime() - key.made) / 1000
  const usage = await readUsage(session, key.name, { signal: AbortSignal.timeout(READ_MILLISECONDS) }).then(
    (one) => one.usage,
    reasonOf,
  )
  const lives = await endRunKey(session, key).then(
    () => undefined,
    (error: Error) => ({ until: key.expirationTimestamp, why: reasonOf(error) }),
  )
  return reportText({ name: key.name, target, prefix, seconds, usage, watched, ...(lives && { lives }) })
}

/** Returns the first line of an error, as a sentence. */
function reasonOf({ name, message }: Error): string {
  const text = name === 'TimeoutError' ? 'keyplane did not answer in time' : (message.split('\n')[0] ?? '')
  return text.endsWith('.') ? text : `${text}.`
}
