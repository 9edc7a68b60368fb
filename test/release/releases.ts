/**
 * Serves one table with the functions of two releases, each in a process of its own. The gateway and its template are those of the
 * working tree. The headers of a request choose who judges and who answers it.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { functionNames } from '../../infra/build.ts'
import type { Metadata } from '../../infra/local/gateway/streaming.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { startServer, type TestServer } from '../support/server.ts'
import type { Invocation, Outcome } from './host.ts'
import { type Before, buildPrevious } from './previous.ts'

export type Release = 'old' | 'new'
/** Who runs the authorizer and who the function of the route. */
export type Pair = readonly [authorizer: Release, handler: Release]
export const PAIRS: readonly Pair[] = [
  ['old', 'old'],
  ['old', 'new'],
  ['new', 'old'],
  ['new', 'new'],
]

export interface Releases extends TestServer {
  /** Returns the headers that choose the releases of a request. Without them the new release serves it. */
  by(pair: Pair): Record<string, string>
  /** Invokes a function of a release directly. */
  invoke(release: Release, name: string, event: unknown): Promise<unknown>
  /** The invocations so far, by release and function. */
  ran: Readonly<Record<Release, ReadonlySet<string>>>
}

const HEADERS = { authorizer: 'x-release-authorizer', handler: 'x-release-handler' } as const
const isStreaming = (name: string) => name.endsWith('/list') || name === 'openapi'

/** Starts this release and another, by default the previous one. The functions that only this one has are run by it, whatever a request chooses. */
export async function startReleases(before?: Before): Promise<Releases> {
  const [packaged, previous] = await Promise.all([ensurePackaged({ quiet: true }), buildPrevious(before)])
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-releases-'))
  const ran = { old: new Set<string>(), new: new Set<string>() }
  const hosts = new Map<Release, Host>()
  const known = new Set(await functionNames(dirname(previous)))
  const invoke = (release: Release, name: string, event: unknown): Promise<Outcome> => {
    ran[release].add(name)
    const host = hosts.get(release)
    if (!host) throw new Error(`release ${release} does not run`)
    return host(name, event)
  }
  const releaseFor = (name: string, event: unknown): Release => {
    const { headers = {} } = (event ?? {}) as { headers?: Record<string, string> }
    const wanted = headers[name === 'authorizer' ? HEADERS.authorizer : HEADERS.handler]
    return wanted === 'old' && known.has(name) ? 'old' : 'new'
  }
  const relays = Object.assign(globalThis, { keyplaneRelay: new Map<string, Relay>() }).keyplaneRelay
  relays.set(folder, async (name, event, stream) => {
    const outcome = await invoke(releaseFor(name, event), name, event)
    if ('error' in outcome) throw new Error(outcome.error)
    if ('answer' in outcome) return outcome.answer
    if (!stream) throw new Error(`${name} streams its response`)
    const { HttpResponseStream } = (globalThis as unknown as { awslambda: Runtime }).awslambda
    const response = HttpResponseStream.from(stream, outcome.metadata)
    // The first write sends the metadata; an end with a body sends none.
    response.write(Buffer.from(outcome.body, 'base64'))
    response.end()
    return undefined
  })
  for (const name of await functionNames(join(import.meta.dirname, '../..'))) await writeRelay(folder, name)
  const server = await startServer({}, { unscheduled: true, bundles: folder })
  hosts.set('old', await startHost(previous))
  hosts.set('new', await startHost(packaged.bundles))
  return {
    ...server,
    ran,
    by: ([authorizer, handler]) => ({ [HEADERS.authorizer]: authorizer, [HEADERS.handler]: handler }),
    async invoke(release, name, event) {
      const outcome = await invoke(release, name, event)
      if ('error' in outcome) throw new Error(outcome.error)
      return 'answer' in outcome ? outcome.answer : outcome
    },
    async stop() {
      await server.stop()
      for (const host of hosts.values()) host.stop()
      relays.delete(folder)
      await rm(folder, { recursive: true })
    },
  }
}

type Relay = (name: string, event: unknown, stream?: Writable) => Promise<unknown>
interface Runtime {
  HttpResponseStream: { from(stream: Writable, metadata: Metadata): Writable }
}

/** Writes the bundle of a function that passes its events on to this process. */
async function writeRelay(folder: string, name: string): Promise<void> {
  const relay = `globalThis.keyplaneRelay.get(${JSON.stringify(folder)})`
  const text = isStreaming(name)
    ? `export const handler = awslambda.streamifyResponse((event, stream) => ${relay}(${JSON.stringify(name)}, event, stream))`
    : `export const handler = (event) => ${relay}(${JSON.stringify(name)}, event)`
  const file = join(folder, 'functions', `${name}.mjs`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${text}\n`)
}

interface Host {
  (name: string, event: unknown): Promise<Outcome>
  stop(): void
}

/** Starts the process of a release with the environment of this one, which the gateway has completed. */
async function startHost(bundles: string): Promise<Host> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'host.ts'), [bundles], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, (outcome: Outcome) => void>()
  let last = 0
  await once(child, 'message')
  child.on('message', (outcome: Outcome) => {
    waiting.get(outcome.id)?.(outcome)
    waiting.delete(outcome.id)
  })
  child.on('exit', (code) => {
    for (const [id, settle] of waiting) settle({ id, error: `the process of the release ended with ${code}` })
  })
  const invoke = (name: string, event: unknown) =>
    new Promise<Outcome>((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      child.send({ id, name, event, remaining: 29_000 } satisfies Invocation)
    })
  return Object.assign(invoke, { stop: () => void child.kill() })
}
