/**
 * Measures cold starts: each bundle in a new process with only its environment, under a local Lambda Runtime API, compared
 * with an empty handler. `init` ends when the function requests its first invocation, which is its event in events/.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build, functionNames } from '../../infra/build.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { startDeployment } from '../support/deployment.ts'
import { median } from './measure.ts'
import { table } from './print.ts'
import { type RuntimeApi, startRuntimeApi } from './runtimeapi.ts'

const root = join(import.meta.dirname, '../..')

/** Elapsed and CPU milliseconds until the first invocation, and of that invocation. */
type Start = Readonly<Record<'init' | 'initCpu' | 'first' | 'firstCpu', number>>

interface Subject {
  /** The bundle below the task root. */
  handler: string
  event: { requestContext?: object }
}

/** Returns the event as if the gateway had just received it. */
function stampReceived(event: { requestContext?: object }): object {
  const { requestContext } = event
  return requestContext ? { ...event, requestContext: { ...requestContext, requestTimeEpoch: Date.now() } } : event
}

/** Starts a function of the task root `folder`. Throws when it cannot start. */
async function start(
  api: RuntimeApi,
  folder: string,
  { handler, event }: Subject,
  environment: object,
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
  const { asked, sent, answered } = await api.invocation(stampReceived(event))
  await ended
  return {
    init: asked.at - began,
    initCpu: asked.cpu,
    first: answered.at - sent,
    firstCpu: answered.cpu - asked.cpu,
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

export async function benchStart({ rounds }: { rounds: number }): Promise<void> {
  const deployment = await startDeployment('https://bench.invalid')
  const api = await startRuntimeApi()
  const { bundles } = await ensurePackaged({ quiet: true })
  const folder = await taskRoot(bundles)
  try {
    const names = (await functionNames(root)).filter(
      (n) => !process.env.ONLY || process.env.ONLY.split(',').includes(n),
    )
    const subjects = await Promise.all(
      names.map(async (name): Promise<Subject> => {
        const event = await readFile(join(root, 'events', `${name}.json`), 'utf8')
        return { handler: `functions/${name}.handler`, event: JSON.parse(event) }
      }),
    )
    subjects.unshift({ handler: 'nothing.handler', event: {} })
    const starts = subjects.map((): Start[] => [])
    for (let round = 0; round < rounds; round++) {
      for (const [index, subject] of subjects.entries())
        starts[index]?.push(await start(api, folder, subject, deployment.environment))
    }
    const sizes = new Map((await build(root)).map((bundle) => [bundle.name, bundle]))
    const rows = await Promise.all(
      ['a handler that does nothing', ...names].map(async (name, index) => {
        const all = starts[index] ?? []
        const of = (member: keyof Start) => median(all.map((one) => one[member]))
        const { initial = 0, total = 0 } = sizes.get(name) ?? {}
        const zip = join(bundles, 'archives', `${name.replaceAll('/', '-')}.zip`)
        const bytes = [initial, total, index === 0 ? 0 : (await stat(zip)).size]
        return [name, of('init'), of('initCpu'), of('first'), of('firstCpu'), ...bytes.map(kilobytes)]
      }),
    )
    table(
      `Cold start under a local Runtime API, median of ${rounds}`,
      ['function', 'init ms', 'CPU ms', 'first event ms', 'CPU ms', 'KiB at start', 'KiB of all', 'KiB zipped'],
      rows,
    )
  } finally {
    api.close()
    await deployment.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
