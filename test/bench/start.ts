/**
 * Measures cold starts: each bundle in a new process with only its environment, under a local Lambda Runtime API, compared
 * with an empty handler. `init` ends when the function requests its first invocation, which is its sample event. Then it
 * measures the functions that users wait for under the CPU shares of memory sizes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { sampleEvent } from '../../events/sample.ts'
import { build } from '../../infra/build.ts'
import { functions } from '../../infra/functions.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { variablesOf } from '../../infra/stack/lambda.ts'
import { startDeployment } from '../support/deployment.ts'
import { unique } from './access.ts'
import { limitCpu } from './cpulimit.ts'
import { median } from './measure.ts'
import { table } from './print.ts'
import { type RuntimeApi, startRuntimeApi } from './runtimeapi.ts'

const root = join(import.meta.dirname, '../..')

/** Elapsed and CPU milliseconds until the first invocation, of that invocation, and on average of those that follow. */
type Start = Readonly<Record<'init' | 'initCpu' | 'first' | 'firstCpu' | 'warm', number>>

interface Event {
  requestContext?: object
  body?: string
}

interface Subject {
  /** The bundle below the task root. */
  handler: string
  event: Event
  environment: Readonly<Record<string, string>>
}

/** The share of a CPU after the initialization, and the number of invocations after the first, without a pause. */
interface Limit {
  share: number
  warm: number
}

/** Returns the event as if the gateway had just received it. A create has a name of its own. */
function received({ body, ...event }: Event): object {
  const { requestContext } = event
  const named = body?.replace('"name":"ci"', `"name":"${unique()}"`)
  return {
    ...event,
    ...(named !== undefined && { body: named }),
    ...(requestContext && { requestContext: { ...requestContext, requestTimeEpoch: Date.now() } }),
  }
}

/** Starts a function of the task root `folder`. Throws when it cannot start. */
async function start(
  api: RuntimeApi,
  folder: string,
  { handler, event, environment }: Subject,
  { share, warm }: Limit,
): Promise<Start> {
  const began = performance.now()
  const child = spawn(process.execPath, [join(folder, 'runtime.mjs')], {
    env: {
      ...environment,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_RUNTIME_API: api.address,
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: handler,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  let release = (): void => undefined
  const { asked, sent, answered } = await api.invocation(received(event), () => {
    release = limitCpu(child.pid ?? 0, share)
  })
  let times = 0
  for (let turn = 0; turn < warm; turn++) {
    const invoked = await api.invocation(received(event))
    times += invoked.answered.at - invoked.sent
  }
  release()
  child.kill('SIGKILL')
  await ended
  return {
    init: asked.at - began,
    initCpu: asked.cpu,
    first: answered.at - sent,
    firstCpu: answered.cpu - asked.cpu,
    warm: times / warm,
  }
}

/** Creates a task root with every bundle, an empty handler and the runtime. */
async function taskRoot(bundles: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  await Promise.all([
    cp(bundles, folder, { recursive: true }),
    esbuild({
      entryPoints: [join(import.meta.dirname, 'runtime.ts')],
      outfile: join(folder, 'runtime.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    }),
    writeFile(join(folder, 'nothing.mjs'), 'export const handler = async () => ({})\n'),
  ])
  return folder
}

const kilobytes = (bytes: number): number => Math.ceil(bytes / 1024)

const nothing = 'a handler that does nothing'

interface StartOptions {
  rounds: number
  /** One of `startTables`; both when absent. */
  only?: string | undefined
}

/** The values of `only`. */
export const startTables: readonly string[] = ['cold', 'memory']

export async function benchStart({ rounds, only }: StartOptions): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const deployment = await startDeployment('https://bench.invalid')
  stack.defer(() => deployment.stop())
  const api = await startRuntimeApi()
  stack.defer(() => api.close())
  const { bundles } = await ensurePackaged({ quiet: true })
  const folder = await taskRoot(bundles)
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const subjects = subjectsOf(deployment.environment)
  const startOf = (subject: Subject, limit: Limit) => start(api, folder, subject, limit)
  if (only !== 'memory') await benchCold(subjects, rounds, bundles, startOf)
  if (only !== 'cold') await benchMemory(subjects, Math.ceil(rounds / 3), startOf)
}

/** Returns every function with its variables. */
function subjectsOf(environment: Record<string, string>): Map<string, Subject> {
  const all = functions.map((one): [string, Subject] => {
    const { path: name } = one
    const handler = `functions/${name}.handler`
    const given = variablesOf(one)
    const variables = Object.entries(environment).filter(
      ([variable]) => variable.startsWith('AWS_') || variable in given,
    )
    return [name, { handler, event: sampleEvent(name), environment: Object.fromEntries(variables) }]
  })
  return new Map([[nothing, { handler: 'nothing.handler', event: {}, environment: {} }], ...all])
}

type StartOf = (subject: Subject, limit: Limit) => Promise<Start>

async function benchCold(subjects: ReadonlyMap<string, Subject>, rounds: number, bundles: string, startOf: StartOf) {
  const starts = new Map([...subjects.keys()].map((name): [string, Start[]] => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, subject] of subjects) starts.get(name)?.push(await startOf(subject, { share: 1, warm: 0 }))
  }
  const sizes = new Map((await build(root)).map((bundle) => [bundle.name, bundle]))
  const rows = [...starts].map(async ([name, all]) => {
    const of = (member: keyof Start) => median(all.map((one) => one[member]))
    const { initial = 0, total = 0 } = sizes.get(name) ?? {}
    const zip = join(bundles, 'archives', `${name.replaceAll('/', '-')}.zip`)
    const bytes = [initial, total, name === nothing ? 0 : (await stat(zip)).size]
    return [name, of('init'), of('initCpu'), of('first'), of('firstCpu'), ...bytes.map(kilobytes)]
  })
  table(
    `Cold start under a local Runtime API, median of ${rounds}`,
    ['function', 'init ms', 'CPU ms', 'first event ms', 'CPU ms', 'KiB at start', 'KiB of all', 'KiB zipped'],
    await Promise.all(rows),
  )
}

/** "At 1,769 MB, a function has the equivalent of one vCPU": docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html. */
const wholeCpu = 1769
const memories = [256, 512, 1024, wholeCpu]
const awaited = [
  'authorizer',
  'ownedaccesskeys/get',
  'ownedaccesskeys/create',
  'ownedaccesskeys/list',
  'virtualclusterinstances/kubeconfig/create',
  'directclusterendpointtokens/create',
]
/** Dollars for a GB-second (arm64), and for a million invocations. */
const prices = { second: 0.0000133334, million: 0.2 }

async function benchMemory(subjects: ReadonlyMap<string, Subject>, rounds: number, startOf: StartOf): Promise<void> {
  const warm = 30
  const rows: (string | number)[][] = []
  for (const name of awaited) {
    const subject = subjects.get(name)
    if (!subject) throw new Error(`no function ${name}`)
    const starts = memories.map((): Start[] => [])
    for (let round = 0; round < rounds; round++) {
      for (const [index, memory] of memories.entries())
        starts[index]?.push(await startOf(subject, { share: memory / wholeCpu, warm }))
    }
    const figures = memories.flatMap((memory, index) => {
      const of = (member: keyof Start) => median((starts[index] ?? []).map((one) => one[member]))
      const dollars = prices.million + Math.ceil(of('warm')) * (memory / 1024) * prices.second * 1000
      return [of('first'), of('warm'), dollars]
    })
    rows.push([name, ...figures])
  }
  table(
    `Memory sizes under their share of a CPU: the first event, then ${warm} without a pause, median of ${rounds}`,
    ['function', ...memories.flatMap((memory) => [`${memory} MB: first ms`, 'warm ms', '$ a million'])],
    rows,
  )
}
