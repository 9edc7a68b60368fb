/** Runs processes that need the same cached credential, beside the server that they ask. */

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { listening } from '../../../support/listening.ts'
import { type Ran, runProgram } from '../../../support/programs.ts'

export interface FlightOptions {
  /** Seconds by which the clock of the process is ahead. */
  ahead?: number
  key?: string
  /** The call of the file system or of the server before which the process is killed. */
  killAt?: number
  /** A program that runs the process, with its arguments. */
  through?: readonly string[]
}

export interface Flights {
  home: string
  /** The cache folder, which the processes create. */
  folder: string
  run(options?: FlightOptions): Promise<Ran>
  /** Runs processes at the same time. */
  runMany(count: number, options?: FlightOptions): Promise<Ran[]>
  /** Lets the server answer no request before so many processes wait for another one. Each answer is another token. */
  holdFor(waiting: number): void
  /** Resolves when a request has arrived. */
  asked(): Promise<void>
  /** Returns how many requests have arrived since the last call. */
  requests(): number
  /** Returns the names of the files in the cache folder. */
  files(): Promise<string[]>
  stop(): Promise<void>
}

/** The program in one file, because it is started some hundred times. */
const bundled = build({
  entryPoints: [join(import.meta.dirname, 'flightprocess.ts')],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'esm',
})

export async function createFlights(): Promise<Flights> {
  const home = await mkdtemp(join(tmpdir(), 'keyplane-flights-'))
  const program = join(home, 'process.mjs')
  await writeFile(program, (await bundled).outputFiles[0]?.text ?? '')
  const folder = join(home, '.cache', 'keyplane')
  let wanted = 0
  let waiting = 0
  let requested = 0
  let counted = 0
  const held = new Set<() => void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const release = () => {
    if (waiting < wanted) return
    for (const answer of held) answer()
    held.clear()
  }
  const server = http.createServer((request, response) => {
    if (request.url === '/waiting') {
      waiting++
      response.end()
    } else {
      requested++
      ask()
      const token = `token-${requested}`
      held.add(() => response.end(token))
    }
    release()
  })
  const { url, stop } = await listening(server)

  const run = ({ ahead = 0, key = 'key', killAt = 0, through = [] }: FlightOptions = {}) => {
    const [command = '', ...args] = [...through, process.execPath, program]
    return runProgram(command, args, {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        SERVER: url,
        AHEAD: String(ahead),
        KEY: key,
        KILL_AT: String(killAt),
      },
    })
  }
  return {
    home,
    folder,
    run,
    runMany: (count, options) => Promise.all(Array.from({ length: count }, () => run(options))),
    holdFor: (more) => {
      wanted = waiting + more
    },
    asked: () => asked,
    requests() {
      const since = requested - counted
      counted = requested
      return since
    },
    files: async () => (await readdir(folder).catch(() => [])).sort(),
    async stop() {
      await stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
