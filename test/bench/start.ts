/**
 * Cold starts: a fresh process imports a bundle as Lambda's runtime would, with nothing but its environment, beside one whose
 * handler does nothing. Measured is the import; what the platform does before and after it is not.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build, functionNames } from '../../infra/build.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { startDeployment } from '../support/deployment.ts'
import { median } from './measure.ts'
import { table } from './print.ts'

const root = join(import.meta.dirname, '../..')

/** With what Lambda's runtime offers to handlers that stream. Prints milliseconds, and those of CPU, that the import of its argument takes. */
const program = `globalThis.awslambda={streamifyResponse:(one)=>one,HttpResponseStream:{from:(one)=>one}};
const wall=performance.now(),cpu=process.cpuUsage();await import(process.argv[1]);
const{user,system}=process.cpuUsage(cpu);process.stdout.write(JSON.stringify([performance.now()-wall,(user+system)/1000]));process.exit()`

interface Start {
  wall: number
  cpu: number
}

async function start(file: string, environment: Record<string, string>): Promise<Start> {
  const run = promisify(execFile)
  const { stdout } = await run(
    process.execPath,
    ['--input-type=module', '-e', program, '--', pathToFileURL(file).href],
    {
      env: environment,
    },
  )
  const [wall = Number.NaN, cpu = Number.NaN] = JSON.parse(stdout) as number[]
  return { wall, cpu }
}

const kilobytes = (bytes: number): number => Math.ceil(bytes / 1024)

export async function benchStart({ rounds }: { rounds: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const deployment = await startDeployment('https://bench.invalid')
  try {
    const { bundles } = await ensurePackaged({ quiet: true })
    const nothing = join(folder, 'nothing.mjs')
    await writeFile(nothing, 'export const handler = async () => ({})\n')
    const names = await functionNames(root)
    const files = [nothing, ...names.map((name) => join(bundles, 'functions', `${name}.mjs`))]
    const starts = files.map((): Start[] => [])
    for (let round = 0; round < rounds; round++) {
      for (const [index, file] of files.entries()) starts[index]?.push(await start(file, deployment.environment))
    }
    const sizes = new Map((await build(root)).map((bundle) => [bundle.name, bundle]))
    const rows = await Promise.all(
      ['a handler that does nothing', ...names].map(async (name, index) => {
        const all = starts[index] ?? []
        const { initial = 0, total = 0 } = sizes.get(name) ?? {}
        const zip = join(bundles, 'archives', `${name.replaceAll('/', '-')}.zip`)
        const zipped = index === 0 ? 0 : (await stat(zip)).size
        const times = [median(all.map(({ wall }) => wall)), median(all.map(({ cpu }) => cpu))]
        return [name, ...times, kilobytes(initial), kilobytes(total), kilobytes(zipped)]
      }),
    )
    table(
      `Cold start: import of the bundle in a fresh process, median of ${rounds}`,
      ['function', 'import ms', 'CPU ms', 'KiB at start', 'KiB of all', 'KiB zipped'],
      rows,
    )
  } finally {
    await deployment.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
