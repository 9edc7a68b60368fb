/**
 * Starts MiniStack, a local AWS that deploys CloudFormation, in its own Python environment. It runs
 * the functions as Node.js processes and enforces their roles. startministack.py adds what it lacks.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../../infra/local/host/freeport.ts'
import { madeOnce } from '../support/madeonce.ts'

export interface Emulator {
  /** Address of all services. */
  url: string
  /** Environment variables for clients and the deploy tool. */
  environment: Record<string, string>
  /** The output of the emulator and the functions so far. */
  log(): string
  stop(): Promise<void>
}

const run = promisify(execFile)

/** Each has its own environment, because they need other versions of the same packages. */
const ENVIRONMENTS = {
  // Installs the others. Those that come with Python take three times its CPU time.
  pip: ['pip==26.3'],
  // Its KMS requires cryptography.
  emulator: ['ministack==1.5.33', 'cryptography==50.0.2'],
  aws: ['awscli==1.45.11'],
  linter: ['cfn-lint==1.51.0'],
  auditor: ['checkov==3.3.30'],
  hcl: ['python-hcl2==8.1.4'],
} as const

/** Returns the folder of the commands of a Python environment, which the first caller creates. */
export async function installed(name: keyof typeof ENVIRONMENTS): Promise<string> {
  const packages = ENVIRONMENTS[name]
  const folder = await madeOnce(`python/${packages.join('-')}`, async (folder) => {
    const pip = name === 'pip' ? 'python3' : join(await installed('pip'), 'python')
    await run('python3', ['-m', 'venv', '--without-pip', folder])
    // Python compiles what a program imports: a small part of the packages.
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile']
    const install = ['-m', 'pip', '--python', join(folder, 'bin/python'), 'install', ...options, ...packages]
    await run(pip, install, { env: { ...process.env, ...compiling } })
  })
  return join(folder, 'bin')
}

/** Environment of programs of `installed()`, so that each module is compiled once. */
export const compiling = { PYTHONDONTWRITEBYTECODE: '' }

interface EmulatorOptions {
  /** The logical IDs of the aliases that have two versions for a while (startministack.py). */
  rollouts?: readonly string[]
  /** How many times slower than those of this machine the clocks of the functions run. */
  slower?: number
}

/** Starts it. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-deploy-'))
  const temporary = join(folder, 'tmp')
  try {
    const bin = await installed('emulator')
    await mkdir(temporary)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const { child, log } = start(join(bin, 'python'), port, temporary, options)
    await ready(url, child, log)
    return {
      url,
      environment: {
        ...credentials,
        AWS_ENDPOINT_URL: url,
        AWS_REGION: 'eu-central-1',
        // Milliseconds between two questions of the deploy tool whether the stack is complete.
        SLS_AWS_MONITORING_FREQUENCY: '200',
      },
      log,
      async stop() {
        await end(child)
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Arbitrary credentials, which the emulator treats as the root user of the account. */
const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }

function start(python: string, port: number, temporary: string, { rollouts = [], slower }: EmulatorOptions) {
  const { AWS_PROFILE: _, ...inherited } = process.env
  const slowClock = pathToFileURL(join(import.meta.dirname, 'slowclock.ts'))
  const child = spawn(python, [join(import.meta.dirname, 'startministack.py')], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      ...credentials,
      ...compiling,
      // The functions run on the Node.js of this process.
      PATH: [dirname(process.execPath), inherited.PATH].join(delimiter),
      TMPDIR: temporary,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      AUTH: 'true',
      ROLLOUTS: JSON.stringify(rollouts),
      ...(slower !== undefined && { NODE_OPTIONS: `--import=${slowClock}`, FUNCTION_CLOCK_SLOWER: String(slower) }),
    },
  })
  const written: Buffer[] = []
  const collectOutput = (chunk: Buffer) => void written.push(chunk)
  child.stdout.on('data', collectOutput)
  child.stderr.on('data', collectOutput)
  return { child, log: () => Buffer.concat(written).toString() }
}

async function ready(url: string, child: ChildProcess, log: () => string): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/_ministack/health`).catch(() => undefined)
    if (answer?.ok) return
    await delay(100)
  }
  throw new Error(`the emulator has ended: ${log()}`)
}

/** Stops the emulator with its functions, which are in its process group. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid, 'SIGKILL')
  await ended
}
