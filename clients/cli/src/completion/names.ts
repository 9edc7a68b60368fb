/**
 * Knows the names of objects for completion. A shell waits for its TAB, so names come from a file of the last answer. A process of its own
 * asks the server, at most once in 30 seconds, and is not waited for longer than a person notices: the next TAB has its answer.
 */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { makeFolder, replaceFile } from '../../../core/src/files/privatefiles.ts'
import { projectIn } from '../../../core/src/projects.ts'
import { clusterPath } from '../api/clusters.ts'
import { listInstances } from '../api/instances.ts'
import { keyPath, providersPath, trustsPath } from '../api/keys.ts'
import { projectPrefix } from '../api/projects.ts'
import { openSession, type Session } from '../api/session.ts'
import type { Named } from '../arguments/command.ts'
import { ROLES } from '../arguments/scope.ts'
import { readConfig } from '../config/contexts.ts'
import { cacheFolder } from '../config/paths.ts'
import type { Io } from '../io/io.ts'

/** What a process that asks for names is told first. */
export const ASK = '__complete-names'

export type Asked = Exclude<Named, 'file'>

/** For how long names count as known, and the server is not asked again. */
const FRESH_MILLISECONDS = 30_000
/** When a completion ends, counted from the start of its process. */
const PATIENCE_MILLISECONDS = 250
const POLL_MILLISECONDS = 15
/** When the process that asks gives up. */
const LONGEST_MILLISECONDS = 20_000
/** The most names that are kept. */
const MOST = 1000

/** Names have this form. Everything else, such as what a shell could expand, is left out. */
const GRAMMAR = /^[A-Za-z0-9](?:[A-Za-z0-9._:@/-]{0,251}[A-Za-z0-9])?$/

/** Returns the names that are safe in every shell. */
export const safeNames = (names: readonly unknown[]): string[] =>
  names.filter((one): one is string => typeof one === 'string' && GRAMMAR.test(one)).slice(0, MOST)

/** Returns the names that are known, or become known in time. Never fails. */
export async function namesFor(io: Io, named: Asked, context: string | undefined): Promise<string[]> {
  if (named === 'roles') return [...ROLES]
  if (named === 'contexts') return safeNames([...(await readConfig(io)).contexts.keys()])
  const file = await fileOf(io, named, context)
  const known = readNames(file)
  if (known?.isFresh) return known.names
  if (mayAsk(file)) {
    await makeFolder(namesFolder(io))
    writeFileSync(asked(file), '', { mode: 0o600 })
    utimesSync(asked(file), io.now(), io.now())
    io.startDetached([ASK, named, ...(context === undefined ? [] : [context])])
  }
  while (io.elapsed() < PATIENCE_MILLISECONDS) {
    const now = readNames(file)
    if (now?.isFresh) return now.names
    await io.pause(POLL_MILLISECONDS)
  }
  return known?.names ?? []

  function mayAsk(of: string): boolean {
    try {
      const ago = io.now().getTime() - statSync(asked(of)).mtimeMs
      return ago < 0 || ago > FRESH_MILLISECONDS
    } catch {
      return true
    }
  }

  function readNames(of: string): { names: string[]; isFresh: boolean } | undefined {
    try {
      const { at, names } = JSON.parse(readFileSync(of, 'utf8')) as { at: number; names: unknown[] }
      const age = io.now().getTime() - at
      return { names: safeNames(names), isFresh: age >= 0 && age <= FRESH_MILLISECONDS }
    } catch {
      return undefined
    }
  }
}

const asked = (file: string): string => `${file}.asked`

const namesFolder = (io: Pick<Io, 'env'>): string => join(cacheFolder(io), 'names')

/** Forgets all names. */
export const forgetNames = (io: Pick<Io, 'env'>): void => rmSync(namesFolder(io), { recursive: true, force: true })

/** Returns the file with the names that this key sees on this server. */
async function fileOf(io: Io, named: Asked, context: string | undefined): Promise<string> {
  const { server, exchange, key } = await openSession(io, { context })
  // An ID token is not used up for a completion.
  if (exchange !== undefined) throw new Error('there is no key')
  const owner = createHash('sha256')
    .update(JSON.stringify([server, await key()]))
    .digest('hex')
  return join(namesFolder(io), `${named}-${owner.slice(0, 32)}`)
}

/** Asks the server for names, and keeps them. This is what the process of its own does, quietly. */
export async function askForNames(io: Io, named: Asked, context: string | undefined): Promise<void> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LONGEST_MILLISECONDS)])
  const quiet: Io = { ...io, signal, err: () => {}, out: () => {} }
  const file = await fileOf(quiet, named, context)
  const names = await READERS[named]?.(await openSession(quiet, { context }))
  if (names === undefined) return
  await makeFolder(namesFolder(io))
  await replaceFile(file, JSON.stringify({ at: io.now().getTime(), names: safeNames(names) }))
}

const ONLY_NAMES = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;q=0.9'

const readerOf =
  (path: () => string) =>
  async (session: Session): Promise<unknown[]> => {
    const list = await session.get(path(), { accept: ONLY_NAMES, query: { limit: String(MOST) } })
    return ((list.items ?? []) as JsonObject[]).map(({ metadata }) => (metadata as JsonObject | undefined)?.name)
  }

async function placesOf(session: Session): Promise<{ project: string; name: string }[]> {
  const prefix = await projectPrefix(session)
  return (await listInstances(session, undefined)).flatMap(({ namespace, name }) => {
    const project = projectIn(namespace, prefix)
    return project === undefined ? [] : [{ project, name }]
  })
}

const virtualClusters = async (session: Session): Promise<string[]> =>
  (await placesOf(session)).map(({ project, name }) => `${project}/${name}`)

const READERS: Partial<Record<Asked, (session: Session) => Promise<unknown[]>>> = {
  keys: readerOf(keyPath),
  clusters: readerOf(clusterPath),
  trusts: readerOf(trustsPath),
  providers: readerOf(providersPath),
  'virtual-clusters': virtualClusters,
  // Whoever may not list one kind may list the other.
  'all-clusters': async (session) => {
    const lists = await Promise.allSettled([readerOf(clusterPath)(session), virtualClusters(session)])
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
  },
  projects: async (session) => [...new Set((await placesOf(session)).map(({ project }) => project))],
}
