/**
 * Shares one server of each configuration among the test files of a worker, because its start costs more than most files. Each
 * file begins with an empty table, a new administrator, and no secrets, events or log of others. Nothing runs on a schedule, and
 * nothing is throttled: tests of both start a server of their own.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { boundSecretsHandler } from '../../lib/server/boundsecrets.ts'
import { garbageCollectorHandler } from '../../lib/server/controllers.ts'
import { lifecycleHandler } from '../../lib/server/lifecycle.ts'
import { captureLog } from './deployment.ts'
import { type Host, openServer, startHost, type TestServer } from './server.ts'

interface Shared {
  host: Host
  /** The variables that the functions read when they are first invoked. */
  environment: Record<string, string>
  isBorrowed: boolean
}

/** Live as long as the worker. */
const servers = new Map<string, Promise<Shared>>()

/** Provides the shared server with these settings of the deployment to all tests of a file, from the first `beforeAll` on. */
export function useServer(settings: Record<string, string> = {}): TestServer {
  let server: TestServer | undefined
  let borrowing: Promise<TestServer> | undefined
  beforeAll(async () => {
    borrowing = borrowServer(settings)
    server = await borrowing
  })
  // Also the one that comes after the time limit of `beforeAll`. Why there is none, `beforeAll` has said.
  afterAll(async () => (await borrowing?.catch(() => undefined))?.stop())
  return later(() => server)
}

/** Returns what `of` returns once `beforeAll` has made it. */
export function later<T extends object>(of: () => T | undefined): T {
  const made = (): T => {
    const one = of()
    if (!one) throw new Error('it is made in beforeAll')
    return one
  }
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(made(), name),
    set: (_, name, value) => Reflect.set(made(), name, value),
  })
}

/** Returns the shared server with these settings, and keeps it from others until `stop`. */
async function borrowServer(settings: Record<string, string>): Promise<TestServer> {
  const id = JSON.stringify(Object.entries(settings).sort())
  const starting = servers.get(id) ?? start(settings)
  servers.set(id, starting)
  // The next file may succeed.
  starting.catch(() => servers.delete(id))
  const shared = await starting
  if (shared.isBorrowed) throw new Error(`two tests of one file share the server with the settings ${id}`)
  // What fails from here on gives the server back.
  await using borrowing = new AsyncDisposableStack()
  shared.isBorrowed = true
  borrowing.defer(() => {
    shared.isBorrowed = false
  })
  const { host } = shared
  borrowing.defer(applyEnvironment(shared.environment))
  borrowing.defer(host.services.provide())
  await host.empty()
  borrowing.defer(captureLog(host.log))
  const server = borrowing.adopt(await openServer(host), (one) => one.stop())
  const borrowed = borrowing.move()
  return { ...server, stop: () => borrowed.disposeAsync() }
}

/** Starts a server and leaves the environment and the output of this process as they were. */
async function start(settings: Record<string, string>): Promise<Shared> {
  const before = { ...process.env }
  const { write } = process.stdout
  try {
    const host = await startHost(settings, { unscheduled: true })
    const changed = Object.entries(process.env).filter(([name, value]) => before[name] !== value)
    return { host, environment: Object.fromEntries(changed) as Record<string, string>, isBorrowed: false }
  } finally {
    process.stdout.write = write
    for (const [name, value] of Object.entries(process.env)) {
      if (before[name] === undefined) delete process.env[name]
      else if (before[name] !== value) process.env[name] = before[name]
    }
  }
}

/**
 * Publishes the events so far, as the schedule of a deployment does. Call it before everything that is to be published: the first run
 * in a table that other files have used begins at the end of its log.
 */
export async function publishEvents(): Promise<void> {
  await lifecycleHandler()({}, context)
}

/** Collects the objects whose owners are gone, as the schedule of a deployment does. */
export async function collectGarbage(): Promise<void> {
  await garbageCollectorHandler()({}, context)
}

/** Removes the Secrets of ended keys from clusters, as the schedule of a deployment does. */
export const endSecrets = (): Promise<void> => boundSecretsHandler()({}, context)

/** Runs these functions until a request is answered that waits for the clusters. */
export async function whileFunctionsRun<T>(answer: Promise<T>): Promise<T> {
  let isAnswered = false
  const settled = answer.finally(() => {
    isAnswered = true
  })
  settled.catch(() => {})
  while (!isAnswered) {
    await publishEvents()
    await endSecrets()
    // With nothing to do, the functions never wait: the request would not go on.
    await delay(100)
  }
  return settled
}

const context = { getRemainingTimeInMillis: () => 60_000 }
