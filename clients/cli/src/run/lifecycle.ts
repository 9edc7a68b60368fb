/** Runs a command with a key that is made for it. Whatever happens, the key ends and its files are deleted. */
import type { Made, MadeFile } from '../../../core/src/files/privatefiles.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import type { Target } from '../api/target.ts'
import { readUsage } from '../api/usage.ts'
import { fillNewFile } from '../config/outputfile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { clusterEntry, virtualClusterEntry } from '../kubeconfig/clusterentries.ts'
import type { Entry } from '../kubeconfig/entries.ts'
import { note } from '../output/messages.ts'
import { sessionWith } from '../rotation/run.ts'
import { runCommand } from './child.ts'
import { environmentFile, narrowEnvironment, narrowedWords } from './environment.ts'
import { fillFolder, makeFolder, removeMade, removeRunFolder } from './folder.ts'
import { endRunKey, type RunKey } from './key.ts'
import { endWords, reportText } from './report.ts'
import { receiveSignals, type Signals } from './signals.ts'
import { type Watched, watchKey } from './watch.ts'

/** The shortest life that a token can have, in seconds. */
const SHORTEST_TOKEN = 60
/** The shortest life that service accounts give a token. */
const SHORTEST_ACCOUNT = 600
/** A token that should outlive its key is shortened with a warning, and the request takes some of the life of the key. */
const LESS = 10

/** Returns for how long a token is asked that is to live as long as its key. */
const tokenLife = (seconds: number): number =>
  seconds >= SHORTEST_ACCOUNT + LESS ? seconds - LESS : Math.max(seconds, SHORTEST_TOKEN)

/** Returns the entry of a kube config for the cluster, with a token of the session's key. */
export async function tokenEntry(io: Io, session: Session, target: Target, seconds: number): Promise<Entry> {
  const making = { io, session, way: 'token' as const, life: tokenLife(seconds), file: undefined }
  if (target.kind === 'virtualCluster') return virtualClusterEntry(making, target).catch(withoutScopes)
  if (target.kind === 'cluster')
    return clusterEntry(making, target)
      .catch(withoutScopes)
      .catch((error: unknown) => withoutAddress(error, target.name))
  throw new CliError('There is no cluster.')
}

/** Says what to do about a cluster that does not ask keyplane: nothing there would keep the command to a scope. */
function withoutScopes(error: unknown): never {
  if (!(error instanceof StatusError) || !error.message.includes(NO_SCOPES)) throw error
  throw new CliError(error.message, {
    exitCode: error.exitCode,
    hint: 'Service accounts issue the tokens of this cluster, and it does not ask keyplane, so it enforces no rules. Use --read-only alone, for which there is an account of its own, or a cluster that accepts tokens of keyplane.',
    cause: error,
  })
}

/** How the server refuses a token of a service account for a scope that restricts. */
const NO_SCOPES = 'a service account cannot be scoped'

/** Says what to do about a cluster whose address is not known. */
function withoutAddress(error: unknown, name: string): never {
  if (!(error instanceof CliError && error.cause instanceof StatusError && error.cause.code === 404)) throw error
  throw new CliError(error.message, {
    exitCode: error.exitCode,
    hint: `keyplane does not know the address of ${name}, or you may not see it. To make it known: keyplane clusters create ${name} --server URL`,
    cause: error.cause,
  })
}

export interface Wanted {
  /** With the key of the caller. */
  session: Session
  target: Target
  /** The prefix of the namespaces of projects. */
  prefix: string
  /** Seconds. */
  life: number
  /** Makes the key, which ends with the command. */
  make(signals: Signals): Promise<RunKey>
  /** Is told the name of the key. */
  told?(name: string): void
}

interface Given {
  command: readonly string[]
  /** Variables that are not removed. */
  keep: readonly string[]
  /** The file for the variables of containers, which is deleted at the end. */
  environment: MadeFile | undefined
}

/**
 * Makes the key, runs the command, ends the key with it, and returns the exit code of the command, or that of a signal that came before it.
 * From the request of the key on, nothing but SIGKILL leaves this program without passing the end of this function.
 */
export async function runWithKey(io: Io, wanted: Wanted, { command, keep, environment }: Given): Promise<number> {
  const { session, target, prefix, life } = wanted
  const signals = receiveSignals(io)
  const over = new AbortController()
  let key: RunKey | undefined
  let folder: Made | undefined
  let watched: Watched | undefined
  let ending: Promise<string | undefined> | undefined
  const endKey = async () => {
    over.abort()
    ending ??= key && end(io, wanted, key, { watched, isHurried: signals.asked.aborted })
    return ending
  }
  try {
    key = await wanted.make(signals)
    wanted.told?.(key.name)
    const starting = { ...io, signal: signals.asked }
    folder = await makeFolder(io)
    const own = { ...sessionWith(starting, session, key.value), projectNamespacePrefix: prefix }
    const entry = target.kind === 'management' ? undefined : await tokenEntry(starting, own, target, life)
    const variables = await fillFolder(folder.path, own, entry)
    if (environment) await fillNewFile(environment, environmentFile(variables))
    const narrowed = narrowEnvironment(io.env, { own: variables, keep, secrets: [await session.key()] })
    const gone = narrowedWords(narrowed)
    if (gone !== undefined) note(io, gone)
    watched = watchKey(io, session, key.name, over.signal)
    return await runCommand(signals, command, narrowed.env, endKey)
  } catch (error) {
    const code = signals.exitCode()
    if (code === undefined) throw error
    return code
  } finally {
    // Before anything is written: nobody may read it, and then a write may wait forever.
    const report = await endKey()
    if (folder) await removeMade(io, folder, removeRunFolder)
    if (report !== undefined) note(io, report)
    signals.stop()
  }
}

/** How long the record is waited for, in milliseconds. Ending the key is more urgent. */
const READ_MILLISECONDS = 5000
/** The same after a signal, which may soon be followed by one that nothing survives. */
const HURRIED_READ_MILLISECONDS = 1000

interface Course {
  /** Absent if the command was not started. */
  watched: Watched | undefined
  /** Whether a signal has asked for the end. */
  isHurried: boolean
}

/**
 * Ends the key, and returns the report. The record goes with the key, so it is read before. Of a command that was not started, there is
 * something to say only if its key goes on.
 */
async function end(
  io: Io,
  { session, target, prefix }: Wanted,
  key: RunKey,
  { watched, isHurried }: Course,
): Promise<string | undefined> {
  const seconds = (io.now().getTime() - key.made) / 1000
  const quiet = sessionWith({ ...io, err: () => {} }, session, await session.key())
  const limit = AbortSignal.timeout(isHurried ? HURRIED_READ_MILLISECONDS : READ_MILLISECONDS)
  const usage =
    watched && (await readUsage(quiet, key.name, { signal: limit }).then(({ usage: read }) => read, reasonOf))
  const lives = await endRunKey(quiet, key).then(
    () => undefined,
    (error: Error) => ({ until: key.expirationTimestamp, why: reasonOf(error) }),
  )
  if (usage === undefined) return lives && endWords(key.name, lives)
  return reportText({
    name: key.name,
    target,
    prefix,
    seconds,
    usage,
    ...(watched && { watched }),
    ...(lives && { lives }),
  })
}

/** Returns the first line of an error, as a sentence. */
function reasonOf({ name, message }: Error): string {
  const text = name === 'TimeoutError' ? 'keyplane did not answer in time' : (message.split('\n')[0] ?? '')
  return text.endsWith('.') ? text : `${text}.`
}
