/**
 * Tests informers of client-go, which controllers and kubectl use, against a server that ends every watch after two seconds.
 * The program is in test/clients/informers. Building it takes about a minute without Go's cache.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { objectsIn } from '../support/examples.ts'
import { mountPod, startPlatform } from '../support/federationpages.ts'
import { kubeConfig } from '../support/kubectl.ts'
import { accessKey, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { hasGo } from './golang.ts'

const source = join(import.meta.dirname, '../clients/informers')

interface Cached {
  name: string
  resourceVersion: string
}

interface Seen extends Cached {
  event: 'add' | 'update' | 'delete' | 'missed'
}

interface Informer {
  /** The events of each object, in their order. */
  seen: Map<string, Seen[]>
  /** The requests with their status, in their order. */
  requests: string[]
  /** Resolves when the condition holds after a line. Rejects when the program ends first. */
  until(holds: () => boolean): Promise<void>
  /** Returns the objects in the cache. */
  store(): Promise<Cached[]>
  stop(): void
}

let folder: string
let server: TestServer
const running = new Set<ChildProcess>()
beforeAll(async () => {
  if (!hasGo) return
  folder = await mkdtemp(join(tmpdir(), 'keyplane-informers-'))
  await promisify(execFile)('go', ['build', '-o', join(folder, 'informers'), '.'], { cwd: source })
  server = await startServer({ MAX_WATCH_SECONDS: '2' })
  const config = kubeConfig(server.base, server.certificateAuthority, server.adminKey)
  await writeFile(join(folder, 'config'), JSON.stringify(config), { mode: 0o600 })
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** Starts an informer and resolves once it is synchronized. */
async function startInformer(
  options: string[],
  streamsLists: boolean,
  { config = join(folder, 'config'), environment = {} }: { config?: string; environment?: object } = {},
): Promise<Informer> {
  const given = ['--kubeconfig', config, '--resource', 'ownedaccesskeys', ...options]
  // The switch of client-go for streaming lists, as kube-controller-manager sets it by default.
  const env = { ...process.env, KUBE_FEATURE_WatchListClient: String(streamsLists), ...environment }
  const child = spawn(join(folder, 'informers'), given, { env })
  running.add(child)
  const waiting = new Set<() => void>()
  const seen = new Map<string, Seen[]>()
  const requests: string[] = []
  let isSynced = false
  let stored: Cached[] | undefined
  let errors = ''
  let isOver = false
  const look = () => {
    for (const one of waiting) one()
  }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.once('close', () => {
    isOver = true
    look()
  })
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text)
    if (line.event) seen.set(line.name, [...(seen.get(line.name) ?? []), line])
    else if (line.request) requests.push(`${line.request} ${line.status}`)
    else if (line.store) stored = line.store
    else isSynced = true
    look()
  })
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const one = () => {
        if (holds()) resolve()
        else if (isOver) reject(new Error(`the informer ended: ${errors}`))
        else return
        waiting.delete(one)
      }
      waiting.add(one)
      one()
    })
  await until(() => isSynced)
  return {
    seen,
    requests,
    until,
    async store() {
      stored = undefined
      child.stdin.write('\n')
      await until(() => stored !== undefined)
      return stored ?? []
    },
    stop() {
      child.stdin.end()
      running.delete(child)
    },
  }
}

describe.skipIf(!hasGo)('the informers of client-go', () => {
  test.each([
    { of: 'objects', lists: 'pages', options: [], streamsLists: false },
    { of: 'objects', lists: 'a stream', options: [], streamsLists: true },
    { of: 'metadata', lists: 'pages', options: ['--metadata'], streamsLists: false },
    { of: 'metadata', lists: 'a stream', options: ['--metadata'], streamsLists: true },
  ])(
    'miss no change of $of when every watch is cut, after a list in $lists',
    async ({ of, lists, options, streamsLists }) => {
      const prefix = `${of}-${streamsLists}`
      const happened = new Map<string, Seen[]>()
      const record = (event: Seen['event'], name: string, { metadata }: { metadata: Omit<Cached, 'name'> }) =>
        happened.set(name, [...(happened.get(name) ?? []), { event, name, resourceVersion: metadata.resourceVersion }])
      const before = `${prefix}-before`
      record('add', before, await server.make(keys, accessKey(before, { user: 'alice' })))
      const informer = await startInformer(options, streamsLists)
      const change = async (path: string, method: string, body?: object) => {
        const headers = { 'content-type': 'application/merge-patch+json' }
        const { status, json, text } = await server.call(path, { method, ...(body && { body, headers }) })
        if (status !== 200) throw new Error(`${status}: ${text}`)
        return json
      }
      const watches = () => informer.requests.filter((one) => one === 'watch 200').length
      // Until at least five watches were cut, at any moment of the changes.
      for (let turn = 0; watches() < 6; turn++) {
        const name = `${prefix}-${turn}`
        record('add', name, await server.make(keys, accessKey(name, { user: 'alice' })))
        const labels = { turn: String(turn) }
        record('update', before, await change(`${keys}/${before}`, 'PATCH', { metadata: { labels } }))
        await delay(100)
        record('update', name, await change(`${keys}/${name}`, 'PATCH', { spec: { displayName: 'changed' } }))
        if (turn % 2 === 0) continue
        await change(`${keys}/${name}`, 'DELETE')
        record('delete', name, { metadata: { resourceVersion: '' } })
      }
      const last = `${prefix}-last`
      record('add', last, await server.make(keys, accessKey(last, { user: 'alice' })))
      await informer.until(() => informer.seen.has(last))

      const told = (all: ReadonlyMap<string, Seen[]>) =>
        [...all.keys()]
          .filter((name) => name.startsWith(`${prefix}-`))
          .sort()
          .map((name) => [
            name,
            all.get(name)?.map(({ event, resourceVersion }) => (event === 'delete' ? event : [event, resourceVersion])),
          ])
      expect(told(informer.seen)).toEqual(told(happened))
      // It listed once, and resumed every watch.
      const [first, ...others] = informer.requests
      expect([first, new Set(others)]).toEqual([
        `${lists === 'pages' ? 'list' : 'watchlist'} 200`,
        new Set(['watch 200']),
      ])
      const { json } = await server.call(keys)
      const cached = await informer.store()
      const versionOf = ({ name, resourceVersion }: Cached) => `${name} ${resourceVersion}`
      expect(cached.map(versionOf).sort()).toEqual(
        json.items.map(({ metadata }: { metadata: Cached }) => versionOf(metadata)).sort(),
      )
      informer.stop()
    },
  )

  test('of a pod get another key by themselves when theirs is deleted, as long as the trust stands', async () => {
    const [provider, trust] = await objectsIn('kubernetes/trust.yaml')
    const [config] = await objectsIn('kubernetes/pod.yaml')
    const resources = [{ group: 'management.platform', resources: ['ownedaccesskeys'] }]
    const scope = { rules: [{ requestTargets: ['Management'], resources }] }
    const pod = await startPlatform(server, [provider, { ...trust, spec: { ...trust.spec, scope } }], 'kubernetes.pod')
    try {
      const { folder, here } = pod
      const authority = join(folder, 'ca.crt')
      const data = { curl: here(config.data.curl), kubeconfig: here(config.data.kubeconfig) }
      await mountPod(data, { folder, token: pod.idToken(), authority })
      const place = { config: join(folder, 'kubeconfig'), environment: { CURL_CA_BUNDLE: authority } }
      const informer = await startInformer([], false, place)
      const [first = '', ...more] = await pod.keys()
      expect(more).toEqual([])
      await server.call(`${keys}/${first}`, { method: 'DELETE' })
      await informer.until(() => informer.requests.some((one) => one.endsWith(' 401')))
      await server.make(keys, accessKey('of-the-team', { team: 'shop' }))
      await informer.until(() => informer.seen.has('of-the-team'))
      expect(await pod.keys()).toEqual([expect.not.stringMatching(`^${first}$`)])
      informer.stop()
    } finally {
      await pod.stop()
    }
  })
})
