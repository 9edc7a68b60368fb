/** Runs the command line with a home folder of its own: in this process, or its bundle as a process. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildCommandLine } from '../../../clients/cli/build.ts'
import type { Io } from '../../../clients/cli/src/io/io.ts'
import { runProgram } from '../../../clients/cli/src/program.ts'
import type { Shell } from '../../../clients/core/src/shellwords.ts'
import { isExecutable } from '../../support/executable.ts'
import { feed } from '../../support/feed.ts'
import type { Ran } from '../../support/programs.ts'
import type { TestServer } from '../../support/server.ts'
import { later } from '../../support/sharedserver.ts'
import { testIo } from './credentials/testio.ts'

export interface Running {
  /** Ends with the program. */
  ended: Promise<Ran>
  /** What the program has said so far. */
  said: Ran
  /** Resolves once standard error matches. Rejects if the program ends before. */
  until(pattern: RegExp): Promise<void>
  kill(signal: NodeJS.Signals): void
  /** Absent in this process. */
  pid?: number | undefined
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  /** Standard input; empty by default. */
  input?: string
  /** Whether the streams are a terminal of 100 columns. */
  isTerminal?: boolean
  /** By default that of POSIX. */
  shell?: Shell
  /** By default nothing is opened. */
  openBrowser?: Io['openBrowser']
  /** By default those of this machine. */
  clock?: Pick<Io, 'now' | 'elapsed' | 'pause'>
}

interface ProcessOptions {
  env?: Record<string, string | undefined>
  /** The Node.js that runs the bundle; by default that of the tests. */
  node?: string
}

export interface CommandLine {
  /** The home folder, which `stop` removes, and the current folder of the program. */
  home: string
  /** Begins the program in this process. */
  begin(args: readonly string[], options?: RunOptions): Running
  /** Runs the program in this process. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>
  /** Runs a command in this process, which must succeed, and returns its standard output. */
  ok(args: readonly string[], options?: RunOptions): Promise<string>
  /** Starts the bundle as a process of its own. */
  start(args: readonly string[], options?: ProcessOptions): Promise<Running & { child: ChildProcessWithoutNullStreams }>
  /** Runs the bundle as a process of its own. */
  spawn(args: readonly string[], options?: ProcessOptions & { input?: string }): Promise<Ran>
  /** Installs the bundle in the home folder, and returns the program. */
  install(): Promise<string>
  /** Writes a file to the home folder, and returns its path. */
  write(name: string, text: string): Promise<string>
  stop(): Promise<void>
}

const packageFolder = join(import.meta.dirname, '../../../clients/cli')

let built: Promise<Buffer> | undefined

/** Builds the bundle in a folder of its own, and returns it. */
async function build(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-build-'))
  const file = join(folder, 'keyplane.js')
  await buildCommandLine(file)
  const bundle = await readFile(file)
  await rm(folder, { recursive: true })
  return bundle
}

/** Installs the command line into a folder as npm does, and returns the program: `node_modules/.bin/keyplane`. */
export async function installCommandLine(folder: string): Promise<string> {
  const modules = join(folder, 'node_modules')
  const installed = join(modules, 'keyplane')
  await mkdir(join(modules, '.bin'), { recursive: true })
  for (const part of ['package.json', 'bin'])
    await cp(join(packageFolder, part), join(installed, part), { recursive: true })
  await mkdir(join(installed, 'dist'))
  built ??= build()
  await writeFile(join(installed, 'dist', 'keyplane.js'), await built)
  const program = join(modules, '.bin', 'keyplane')
  await symlink('../keyplane/bin/keyplane.cjs', program)
  return program
}

/** Returns the command line with an empty home folder. With a server, the environment names it and a key, the administrator's by default. */
export async function createCommandLine(
  server?: TestServer,
  key: string | undefined = server?.adminKey,
): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), 'keyplane-cli-'))
  const before = process.cwd()
  const write = async (name: string, text: string) => {
    await writeFile(join(home, name), text, { mode: 0o600 })
    return join(home, name)
  }
  const session = server && {
    KEYPLANE_URL: server.base,
    KEYPLANE_KEY: key,
    KEYPLANE_CA: await write('ca.crt', server.certificateAuthority),
  }
  const envOf = (env: RunOptions['env']) => ({ PATH: process.env.PATH, HOME: home, ...session, ...env })
  let installed: Promise<string> | undefined
  const install = () => {
    installed ??= installCommandLine(home)
    return installed
  }

  let begun = 0
  const begin = (
    args: readonly string[],
    { env, input = '', isTerminal = false, shell = 'posix', clock, openBrowser = () => {} }: RunOptions = {},
  ): Running => {
    process.chdir(home)
    const said: Ran = { code: null, stdout: '', stderr: '' }
    const heard = new EventEmitter()
    const interrupt = new AbortController()
    const lines = input.split('\n')
    const { io } = testIo({
      program: join(home, 'node_modules/.bin/keyplane'),
      parent: () => `another-${++begun}`,
      env: envOf(env),
      shell,
      signal: interrupt.signal,
      out: (text) => {
        said.stdout += text
      },
      err: (text) => {
        said.stderr += text
        heard.emit('text')
      },
      isTerminal: { in: isTerminal, out: isTerminal, err: isTerminal },
      columns: isTerminal ? 100 : 80,
      openBrowser,
      readStdin: async () => input,
      readLine: async () => lines.shift() || undefined,
      readHidden: async () => lines.shift() || undefined,
      ...clock,
      pause: (milliseconds, signal = interrupt.signal) =>
        clock ? clock.pause(milliseconds, signal) : sleep(milliseconds, undefined, { signal }),
    })
    const ended = runProgram(args, io)
      .catch(() => INTERRUPTED)
      .then((code) => ({ ...said, code }))
    return {
      ended,
      said,
      until: saying(said, heard, 'text', ended),
      kill: (signal) => interrupt.abort(new Error(`ended by ${signal}`)),
    }
  }
  const run = (args: readonly string[], options?: RunOptions) => begin(args, options).ended

  const start: CommandLine['start'] = async (args, { env, node = process.execPath } = {}) => {
    const child = spawn(node, [await install(), ...args], { cwd: home, env: envOf(env) })
    const said: Ran = { code: null, stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        said[stream] += chunk
      })
    }
    child.stdin.on('error', () => {})
    const ended = once(child, 'close').then(([code]) => ({ ...said, code: code as number | null }))
    const until = saying(said, child.stderr, 'data', ended)
    return { ended, said, until, kill: (signal) => void child.kill(signal), pid: child.pid, child }
  }
  return {
    home,
    begin,
    run,
    async ok(args, options) {
      const { code, stdout, stderr } = await run(args, options)
      if (code !== 0) throw new Error(`${code} for ${JSON.stringify(args)}: ${stderr}`)
      return stdout
    },
    start,
    async spawn(args, { input = '', ...options } = {}) {
      const { child, ended } = await start(args, options)
      feed(child, input)
      return ended
    },
    install,
    write,
    stop() {
      process.chdir(before)
      // A request that an ended run left open may still write.
      return rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** Provides a command line to all tests of a file, with a key of the administrator if there is a server. */
export function useCommandLine(server?: TestServer): CommandLine {
  let cli: CommandLine | undefined
  beforeAll(async () => {
    cli = await createCommandLine(server)
  })
  afterAll(() => cli?.stop())
  return later(() => cli)
}

/** Matches a run that ended with this exit code and said this, with this standard output if it is given. */
export const says = (code: number, text: string | RegExp, stdout?: unknown) => ({
  code,
  stderr: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
  ...(stdout !== undefined && { stdout }),
})

/** The exit code for Ctrl-C. */
const INTERRUPTED = 130

const saying =
  (said: Ran, heard: EventEmitter, event: string, ended: Promise<Ran>) =>
  (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = () => pattern.test(said.stderr) && resolve()
      check()
      heard.on(event, check)
      ended.then((ran) => reject(new Error(`ended before ${pattern}: ${JSON.stringify(ran)}`)), reject)
    })

/** The Node.js of the tests, and every older one on the PATH that the package supports. */
export const nodes: readonly { version: string; path: string }[] = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter(isExecutable)
  .map((path) => ({ version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), path }))
  .concat({ version: process.version, path: process.execPath })
  .filter(({ version }) => Number(version.slice(1).split('.')[0]) >= 20)
  .filter(({ version }, index, all) => all.findIndex((one) => one.version === version) === index)
