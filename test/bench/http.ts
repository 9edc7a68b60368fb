/**
 * Measures requests per second and CPU time per request of the local server over HTTPS, and of a kube-apiserver with etcd
 * when KUBEBUILDER_ASSETS names one. Each row measures both in turn, so that both see the same load of the machine.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { accessKey, unique } from './access.ts'
import { type Connections, openConnections, Refused } from './client.ts'
import { measureCalls, median, runConcurrently } from './measure.ts'
import { table } from './print.ts'
import { cpuDuring, type ServerProcess, serverProcess } from './processes.ts'

export interface HttpOptions {
  /** The duration of each measurement. */
  seconds: number
  /** Measurements per figure. The result is their median. */
  rounds: number
  /** The operation to measure; all when absent. */
  only?: string | undefined
  /** Folder for CPU profiles of the local server. */
  profile?: string | undefined
}

interface Contender {
  name: string
  server: ServerProcess
  /** Objects that remain; more than a list returns. */
  names: readonly string[]
  /** Objects to delete. */
  doomed: string[]
}

type Operation = (to: Connections, contender: Contender, turn: number) => Promise<unknown>

const path = '/apis/management.platform/v1/ownedaccesskeys'
const kept = 600
const page = 500

const any = ({ names }: Contender): string => `${path}/${names[Math.floor(Math.random() * names.length)]}`
const describeTurn = (turn: number): string => `${turn} ${Math.random()}`

const operations: Readonly<Record<string, Operation>> = {
  async create(to, { doomed }) {
    const name = unique()
    await to.send(201, { method: 'POST', path, body: accessKey(name) })
    doomed.push(name)
  },
  get: (to, contender) => to.send(200, { method: 'GET', path: any(contender) }),
  'JSON patch': (to, contender, turn) =>
    to.send(200, {
      method: 'PATCH',
      path: any(contender),
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/description', value: describeTurn(turn) }],
    }),
  apply(to, contender, turn) {
    const at = any(contender)
    const { apiVersion, kind } = accessKey('')
    const body = { apiVersion, kind, spec: { displayName: describeTurn(turn) } }
    const type = 'application/apply-patch+yaml'
    return to.send(200, { method: 'PATCH', path: `${at}?fieldManager=bench&force=true`, type, body })
  },
  'list of 500': (to) => to.send(200, { method: 'GET', path: `${path}?limit=${page}` }),
  async delete(to, { doomed }) {
    const name = doomed.pop()
    if (name === undefined) return 'ended'
    return to.send(200, { method: 'DELETE', path: `${path}/${name}` })
  },
}

/** The values of `only`. */
export const httpOperations: readonly string[] = Object.keys(operations)

/** Creates the objects of each round in advance. The objects of a create round serve the deletes. */
async function prepare(name: string, server: ServerProcess): Promise<Contender> {
  const contender: Contender = { name, server, names: Array.from({ length: kept }, unique), doomed: [] }
  const to = openConnections(server, 16)
  await runConcurrently(kept, 16, (index) =>
    to.send(201, { method: 'POST', path, body: accessKey(contender.names[index] ?? '') }),
  )
  to.close()
  return contender
}

/** CPU is in milliseconds per request, `store` is the share of the database, and `refused` counts answers of 429 and 503. */
type Figures = Readonly<Record<'rate' | 'cpu' | 'store' | 'p50' | 'p99' | 'refused', number>>

async function measure(contender: Contender, operation: Operation, count: number, seconds: number): Promise<Figures> {
  const to = openConnections(contender.server, count)
  let refused = 0
  const work = (_: number, turn: number) =>
    operation(to, contender, turn).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      refused++
      return 'refused'
    })
  // Opens connections and compiles code before the measurement.
  await measureCalls(count, Math.min(0.3, seconds), work)
  refused = 0
  let run = { calls: 0, rate: 0, p50: 0, p99: 0 }
  const { total, store } = await cpuDuring(contender.server.pid, async () => {
    run = await measureCalls(count, seconds, work)
  })
  to.close()
  const { calls, rate, p50, p99 } = run
  return { rate, cpu: total / calls, store: store / calls, p50, p99, refused }
}

const medians = (all: readonly Figures[]): Figures => {
  const medianOf = (name: keyof Figures): number => median(all.map((one) => one[name]))
  return {
    rate: medianOf('rate'),
    cpu: medianOf('cpu'),
    store: medianOf('store'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    refused: medianOf('refused'),
  }
}

/** Returns the CPU milliseconds per second of an idle server. */
async function idle({ server }: Contender): Promise<number> {
  const seconds = 2
  return (await cpuDuring(server.pid, () => delay(seconds * 1000))).total / seconds
}

async function row(contenders: readonly Contender[], name: string, count: number, { seconds, rounds }: HttpOptions) {
  const operation = operations[name]
  if (!operation) throw new Error(`no operation ${name}`)
  const figures = contenders.map((): Figures[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      if (name === 'delete') await createStock(contender, seconds)
      figures[index]?.push(await measure(contender, operation, count, seconds))
    }
  }
  return figures.map(medians)
}

/** More objects than a round can delete. */
async function createStock(contender: Contender, seconds: number): Promise<void> {
  const to = openConnections(contender.server, 16)
  const missing = Math.ceil(500 * (seconds + 0.3)) - contender.doomed.length
  if (missing > 0) await runConcurrently(missing, 16, () => operations.create?.(to, contender, 0) ?? Promise.resolve())
  to.close()
}

export async function benchHttp(options: HttpOptions): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const serve = async (program: string, profile?: string): Promise<ServerProcess> => {
    const server = await serverProcess(program, profile)
    stack.defer(() => server.stop())
    return server
  }
  const contenders = [await prepare('keyplane', await serve('serve.ts', options.profile))]
  if (process.env.KUBEBUILDER_ASSETS) contenders.push(await prepare('kube-apiserver', await serve('serveoracle.ts')))
  const columns = contenders.flatMap(({ name }) => [
    `${name} req/s`,
    'CPU ms/req',
    'of it store',
    'p50 ms',
    'p99 ms',
    'refused',
  ])
  const compared = contenders.length > 1
  const rows: (string | number)[][] = []
  for (const name of httpOperations.filter((one) => (options.only ?? one) === one)) {
    for (const count of [1, 16, 64]) {
      const all = await row(contenders, name, count, options)
      const [ours, theirs] = all
      const figures = all.flatMap(({ rate, cpu, store, p50, p99, refused }) => [rate, cpu, store, p50, p99, refused])
      rows.push([name, String(count), ...figures, ...(ours && theirs ? [ours.cpu / theirs.cpu] : [])])
    }
  }
  table(
    `HTTPS: median of ${options.rounds} runs of ${options.seconds} s`,
    ['operation', 'connections', ...columns, ...(compared ? ['CPU ratio'] : [])],
    rows,
  )
  const idles = await Promise.all(contenders.map(async (one) => [one.name, await idle(one)]))
  table('At rest', ['server', 'CPU ms/s'], idles)
}
