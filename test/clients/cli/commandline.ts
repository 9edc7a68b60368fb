/** Builds the command line and runs it as a process, with a home folder of its own. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { buildCommandLine } from '../../../clients/cli/build.ts'
import type { Ran } from '../../support/programs.ts'
import type { TestServer } from '../../support/server.ts'

export interface Running {
  /** Ends with the process. */
  ended: Promise<Ran>
  /** What the process has said so far. */
  said: Ran
  /** Resolves once standard error matches. Rejects if the process ends before. */
  until(pattern: RegExp): Promise<void>
  /** Writes to standard input, which stays open. */
  write(text: string): void
  kill(signal: NodeJS.Signals): void
  child: ChildProcessWithoutNullStreams
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  /** Standard input; empty by default. */
  input?: string
  /** The Node.js that runs the bundle; by default that of the tests. */
  node?: string
}

export interface CommandLine {
  /** The home folder, which `stop` removes. */
  home: string
  /** The program. */
  file: string
  run(args: readonly string[], options?: RunOptions): Promise<Ran>
  start(args: readonly string[], options?: Omit<RunOptions, 'input'>): Running
  /** Runs a command, which must succeed, and returns its standard output. */
  ok(args: readonly string[], options?: RunOptions): Promise<string>
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
  const file = await installCommandLine(home)
  const write = async (name: string, text: string) => {
    await writeFile(join(home, name), text, { mode: 0o600 })
    return join(home, name)
  }
  const session = server && {
    KEYPLANE_URL: server.base,
    KEYPLANE_KEY: key,
    KEYPLANE_CA: await write('ca.crt', server.certificateAuthority),
  }
  const start = (args: readonly string[], { env, node = process.execPath }: RunOptions = {}): Running => {
    const child = spawn(node, [file, ...args], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, ...session, ...env },
    })
    const said: Ran = { code: null, stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        said[stream] += chunk
      })
    }
    child.stdin.on('error', () => {})
    const ended = once(child, 'close').then(([code]) => ({ ...said, code: code as number | null }))
    return {
      ended,
      said,
      until: (pattern) =>
        new Promise((resolve, reject) => {
          const check = () => pattern.test(said.stderr) && resolve()
          check()
          child.stderr.on('data', check)
          ended.then((ran) => reject(new Error(`ended before ${pattern}: ${JSON.stringify(ran)}`)), reject)
        }),
      write: (text) => void child.stdin.write(text),
      kill: (signal) => void child.kill(signal),
      child,
    }
  }
  const run = async (args: readonly string[], { input = '', ...options }: RunOptions = {}): Promise<Ran> => {
    const running = start(args, options)
    running.child.stdin.end(input)
    return running.ended
  }
  return {
    home,
    file,
    run,
    start,
    async ok(args, options) {
      const { code, stdout, stderr } = await run(args, options)
      if (code !== 0) throw new Error(`${code} for ${JSON.stringify(args)}: ${stderr}`)
      return stdout
    },
    write,
    stop: () => rm(home, { recursive: true, force: true }),
  }
}

/** The Node.js of the tests, and every older one on the PATH that the package supports. */
export const nodes: readonly { version: string; path: string }[] = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter(isExecutable)
  .map((path) => ({ version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(), path }))
  .concat({ version: process.version, path: process.execPath })
  .filter(({ version }) => Number(version.slice(1).split('.')[0]) >= 20)
  .filter(({ version }, index, all) => all.findIndex((one) => one.version === version) === index)

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
