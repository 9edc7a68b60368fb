/**
 * Runs `npm run bench -- soak --minutes 10`: the local server as `npm start` runs it, at the limit of the machine. Shows the
 * memory of its processes over time and the effect of overload. Throws when an acknowledged write is lost or a watch has
 * missed a change.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Reflector, startReflector } from '../support/reflector.ts'
import { quantile } from './measure.ts'
import { say, table } from './print.ts'
import { memoryOf, type ServerProcess } from './processes.ts'
import { type Load, load, path } from './soakload.ts'

const callers = 32
const watchers = 4
/** Far more concurrent requests than the gateway accepts. */
const crowd = 600
const overloadSeconds = 10
/** The time limit for watches to deliver acknowledged writes. */
const patienceMs = 10_000

async function startLocal(folder: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../infra/local/main.ts')], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const base = await urlOf(child)
  const [certificateAuthority, token] = await Promise.all(
    ['ca.crt', 'access-key'].map((name) => readFile(join(folder, name), 'utf8')),
  )
  return {
    base,
    certificateAuthority: certificateAuthority ?? '',
    token: token ?? '',
    pid: child.pid ?? 0,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Reads and discards the rest of its output. */
function urlOf({ stdout, pid }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const look = (chunk: Buffer): void => {
      said += chunk
      const url = /^keyplane serves (\S+)$/m.exec(said)?.[1]
      if (url === undefined || !said.includes('Press Ctrl-C to stop.')) return
      stdout?.off('data', look).resume()
      resolve(url)
    }
    stdout?.on('data', look).once('end', () => reject(new Error(`the local server ${pid} ended: ${said}`)))
  })
}

/** Megabytes by process and second of the run. */
async function sampleMemory(pid: number, hasTime: () => boolean): Promise<Map<string, number[]>> {
  const samples = new Map<string, number[]>()
  while (hasTime()) {
    for (const [name, megabytes] of await memoryOf(pid)) samples.set(name, [...(samples.get(name) ?? []), megabytes])
    await delay(1000)
  }
  return samples
}

/** Every second of the first and last third, after a tenth for warming up. */
function printMemory(samples: ReadonlyMap<string, readonly number[]>): void {
  const rows = [...samples].map(([name, all]) => {
    const warm = all.slice(Math.ceil(all.length / 10))
    const third = Math.floor(warm.length / 3)
    const [first, last] = [quantile(warm.slice(0, third), 0.5), quantile(warm.slice(-third), 0.5)]
    return [name, first, last, last / first, Math.max(...all)]
  })
  table('Memory of the server', ['process', 'first third MB', 'last third MB', 'ratio', 'most MB'], rows)
}

function printRequests(title: string, seconds: number, { times, refused }: Load): void {
  const rows = [...times()].map(([name, all]) => {
    const statuses = [...refused].filter(([said]) => said.startsWith(`${name} `))
    const said = statuses.map(([text, count]) => `${count} × ${text.slice(name.length + 1)}`).join(', ')
    return [name, all.length / seconds, quantile(all, 0.5), quantile(all, 0.99), said]
  })
  table(title, ['operation', 'requests/s', 'p50 ms', 'p99 ms', 'refused'], rows)
  refused.clear()
}

/** Returns the listed objects by name. */
async function listObjects(work: Load): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>()
  for (let token = ''; ; ) {
    const { status, json } = await work.call(`${path}?limit=500&continue=${encodeURIComponent(token)}`)
    if (status !== 200) throw new Error(`the list was answered ${status}`)
    for (const { metadata, spec } of json.items) found.set(metadata.name, spec.description)
    token = json.metadata.continue ?? ''
    if (!token) return found
  }
}

/** Returns the differences between a watch and the list. */
function differencesOf({ store }: Reflector, found: ReadonlyMap<string, unknown>): string[] {
  const sizes = store.size === found.size ? [] : [`a watch has ${store.size} objects, the list ${found.size}`]
  const marks = [...found].flatMap(([name, mark]) => {
    const seen = store.get(name)?.spec?.description
    return seen === mark ? [] : [`a watch has ${seen} of ${name}, the list ${mark}`]
  })
  return [...sizes, ...marks]
}

/** Checks that nothing is lost or duplicated and that watches agree with the list. */
async function judge(work: Load, reflectors: readonly Reflector[]): Promise<void> {
  const found = await listObjects(work)
  const wrong = work.judge(found)
  for (const one of reflectors) {
    await Promise.race([one.until(() => differencesOf(one, found).length === 0), delay(patienceMs)])
    const revisions = one.seen.map(({ rv }) => rv)
    if (revisions.some((rv, index) => rv <= (revisions[index - 1] ?? 0))) wrong.push('a watch went back')
    wrong.push(...differencesOf(one, found))
  }
  if (wrong.length > 0) throw new Error(`${wrong.length} are wrong: ${wrong.slice(0, 10).join('; ')}`)
  say(`\nAs acknowledged: ${found.size} objects, and ${reflectors[0]?.seen.length} changes in ${watchers} watches.`)
}

/** Overloads the server with all callers, and then measures how soon a single caller is served as before. */
async function overload(work: Load): Promise<void> {
  const counts = new Map<string, number>()
  const times: number[] = []
  // Opens connections first, because handshakes would dominate the time.
  await Promise.all(Array.from({ length: crowd }, () => work.call(`${path}?limit=10`).catch(() => undefined)))
  const end = performance.now() + overloadSeconds * 1000
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const began = performance.now()
      const answer = await work.call(`${path}?limit=10`).catch(() => undefined)
      const wait = answer?.headers['retry-after'] === undefined ? '' : ' with Retry-After'
      const said = `${answer?.status ?? 'cut'}${wait}`
      counts.set(said, (counts.get(said) ?? 0) + 1)
      if (answer?.status === 200) times.push(performance.now() - began)
      // Retries like clients that receive Retry-After, but sooner.
      else await delay(100)
    }
  }
  await Promise.all(Array.from({ length: crowd }, one))
  const ended = performance.now()
  const rows = [...counts].map(([said, count]) => [said, count / overloadSeconds])
  table(`Overload: ${crowd} callers for ${overloadSeconds} s`, ['answer', 'a second'], rows)
  say(`\nServed meanwhile: p50 ${Math.round(quantile(times, 0.5))} ms, p99 ${Math.round(quantile(times, 0.99))} ms.`)
  for (let quiet = 0; quiet < 20; ) {
    const began = performance.now()
    const { status } = await work.call(`${path}?limit=10`)
    quiet = status === 200 && performance.now() - began < 250 ? quiet + 1 : 0
    if (performance.now() - ended > 60_000) throw new Error('the server has not recovered after a minute')
  }
  say(
    `Recovered: 20 requests in a row below 250 ms, ${((performance.now() - ended) / 1000).toFixed(1)} s after the end.`,
  )
}

export async function benchSoak({ minutes }: { minutes: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-soak-'))
  const server = await startLocal(folder)
  const work = load(server)
  const reflectors: Reflector[] = []
  try {
    const seconds = minutes * 60
    const end = performance.now() + seconds * 1000
    const hasTime = (): boolean => performance.now() < end
    const { base, certificateAuthority, token: adminKey } = server
    for (let index = 0; index < watchers; index++) {
      const options = { timeoutSeconds: 20 + index }
      reflectors.push(await startReflector({ base, certificateAuthority, adminKey, call: work.call }, path, options))
    }
    const sampling = sampleMemory(server.pid, hasTime)
    await Promise.all(Array.from({ length: callers }, (_, number) => work.caller(number, hasTime)))
    printRequests(`Soak: ${callers} callers and ${watchers} watches for ${minutes} min`, seconds, work)
    printMemory(await sampling)
    await judge(work, reflectors)
    await overload(work)
    await judge(work, reflectors)
  } finally {
    await Promise.all(reflectors.map((one) => one.stop()))
    work.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
