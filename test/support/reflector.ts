/**
 * Caches a collection as client-go's informers do. It lists, watches from the revision of the list, resumes when a watch
 * ends, and lists again only after 410. Source: k8s.io/client-go tools/cache/reflector.go.
 */
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject, Status } from '../../lib/engine/meta/types.ts'
import type { TestServer } from './server.ts'

export interface Seen {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  name: string
  rv: number
}

export interface Reflector {
  /** Objects by name, as in the listers of an informer. */
  store: ReadonlyMap<string, KubeObject>
  /** The events since the last list, in order of arrival. */
  seen: readonly Seen[]
  /** The resourceVersion of the next watch. */
  resourceVersion(): string
  /** The numbers of lists, watches, bookmarks and 410 answers. */
  counts: Readonly<Record<'lists' | 'watches' | 'bookmarks' | 'expired', number>>
  /** Resolves when the condition holds after an event or a list. */
  until(holds: () => boolean): Promise<void>
  /** Breaks the connection of the watch, possibly in the middle of an event. */
  cut(): void
  /** Starts the next watch at this resourceVersion, like a client that was suspended. */
  rewind(resourceVersion: string): void
  stop(): Promise<void>
}

export interface ReflectorOptions {
  /** The time limit of a watch; client-go requests five to ten minutes. */
  timeoutSeconds: number
  labelSelector?: string
  /** Objects per page of a list; 500 in client-go. */
  limit?: number
}

/** client-go's backoff starts at 0.8 s; tests use less. */
const pauseMs = 50

interface Event {
  type: Seen['type'] | 'BOOKMARK' | 'ERROR'
  object: KubeObject & Status
}

/** Starts to list and watch, and resolves after the first list. `path` is the path of the collection below the base path. */
export async function startReflector(
  server: Pick<TestServer, 'base' | 'certificateAuthority' | 'adminKey' | 'call'>,
  path: string,
  { timeoutSeconds, labelSelector, limit = 500 }: ReflectorOptions,
): Promise<Reflector> {
  const agent = new https.Agent({ ca: server.certificateAuthority, keepAlive: true })
  const store = new Map<string, KubeObject>()
  const seen: Seen[] = []
  const counts = { lists: 0, watches: 0, bookmarks: 0, expired: 0 }
  const waiting = new Set<() => void>()
  let resourceVersion = ''
  let cut = () => {}
  let stopped = false
  const checkWaiting = () => {
    for (const one of waiting) one()
  }
  const query = (more: Record<string, string>) =>
    new URLSearchParams({ ...(labelSelector && { labelSelector }), ...more }).toString()

  async function list(): Promise<void> {
    counts.lists++
    const found: KubeObject[] = []
    for (let token = ''; ; ) {
      const more = token ? { continue: token } : {}
      const { status, json } = await server.call(`${path}?${query({ limit: String(limit), ...more })}`)
      if (status === 410) return list()
      demand(status)
      found.push(...json.items)
      resourceVersion = json.metadata.resourceVersion
      token = json.metadata.continue ?? ''
      if (!token) break
    }
    store.clear()
    for (const one of found) store.set(one.metadata.name ?? '', one)
    seen.length = 0
    checkWaiting()
  }

  /** Reports whether the resourceVersion has expired. */
  function take({ type, object }: Event): boolean {
    if (type === 'ERROR') {
      if (object.code !== 410) demand(object.code)
      counts.expired++
      return true
    }
    const { name = '', resourceVersion: rv = '' } = object.metadata
    resourceVersion = rv
    if (type === 'BOOKMARK') counts.bookmarks++
    else {
      seen.push({ type, name, rv: Number(rv) })
      if (type === 'DELETED') store.delete(name)
      else store.set(name, object)
    }
    checkWaiting()
    return false
  }

  /** Resolves at the end of the stream and reports whether a new list is necessary. */
  async function watch(): Promise<boolean> {
    counts.watches++
    const options = { watch: '1', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds: String(timeoutSeconds) }
    const headers = { authorization: `Bearer ${server.adminKey}` }
    const sent = https.get(`${server.base}${path}?${query(options)}`, { agent, headers })
    let isCut = false
    cut = () => {
      isCut = true
      sent.destroy()
    }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).on('error', reject)
    })
    if (response.statusCode === 410) {
      counts.expired++
      return true
    }
    demand(response.statusCode)
    let text = ''
    for await (const chunk of response) {
      const lines = `${text}${chunk}`.split('\n')
      // An incomplete line at the end of a connection is not an event.
      text = lines.pop() ?? ''
      for (const line of lines) if (!isCut && line !== '' && take(JSON.parse(line) as Event)) return true
    }
    return false
  }

  async function run(): Promise<void> {
    for (let due = false; !stopped; ) {
      try {
        if (due) await list()
        due = await watch()
      } catch (error) {
        if (!isPassing(error)) throw error
      }
      if (!stopped) await delay(pauseMs)
    }
  }

  await list()
  const running = run()
  const failed = running.then(() => undefined)
  failed.catch(checkWaiting)
  return {
    store,
    seen,
    counts,
    resourceVersion: () => resourceVersion,
    until: (holds) =>
      Promise.race([
        new Promise<void>((resolve) => {
          const check = () => {
            if (!holds()) return
            waiting.delete(check)
            resolve()
          }
          waiting.add(check)
          check()
        }),
        failed,
      ]),
    cut: () => cut(),
    rewind(rv) {
      resourceVersion = rv
      cut()
    },
    async stop() {
      stopped = true
      cut()
      await running
      agent.destroy()
    },
  }
}

/** The server is unavailable. */
class Unavailable extends Error {
  override name = 'Unavailable'
}

function demand(status: number | undefined): void {
  if (status === 429 || status === 503 || status === 504) throw new Unavailable()
  if (status !== 200) throw new Error(`answered ${status}`)
}

/** Failures of the network have a code. */
const isPassing = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof Error && 'code' in error)
