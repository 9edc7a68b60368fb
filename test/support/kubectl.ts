/**
 * Runs kubectl with a kube config file and its own discovery cache. It uses the binary of KUBEBUILDER_ASSETS, else of the
 * PATH. Without one, suites in `describeKubectl` are skipped.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { findExecutable } from './executable.ts'
import { feed } from './feed.ts'
import type { TestServer } from './server.ts'
import { later, useServer } from './sharedserver.ts'

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface Kubectl {
  /** A folder for manifests and scripts, which `stop` removes. */
  folder: string
  run(...args: string[]): Promise<CommandResult>
  /** Like `run`, with environment variables. */
  runWith(environment: Record<string, string>, ...args: string[]): Promise<CommandResult>
  /** Like `run`, with text on standard input. */
  feed(input: string, ...args: string[]): Promise<CommandResult>
  /** Starts a long-running command; `until` resolves with the output that matches and rejects when the command ends first. */
  start(...args: string[]): { until(pattern: RegExp): Promise<string>; end(): Promise<void> }
  /** Writes a file to the folder, objects as JSON, and returns its path. */
  file(name: string, content: string | object): Promise<string>
  stop(): Promise<void>
}

function find(): string | undefined {
  const { KUBEBUILDER_ASSETS, PATH = '' } = process.env
  const folders = [...(KUBEBUILDER_ASSETS ? [KUBEBUILDER_ASSETS] : []), ...PATH.split(delimiter)]
  return findExecutable('kubectl', folders)
}

const binary = find()

/** Defines a suite that needs kubectl. */
export function describeKubectl(name: string, suite: () => void): void {
  if (binary === undefined) process.stderr.write(`not run, no kubectl on PATH or in KUBEBUILDER_ASSETS: ${name}\n`)
  describe.skipIf(binary === undefined)(name, suite)
}

/** Returns a kube config with one context. */
export const kubeConfig = (server: string, certificateAuthority: string, token: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  clusters: [
    {
      name: 'test',
      cluster: { server, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') },
    },
  ],
  users: [{ name: 'test', user: { token } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
})

/** Returns kubectl with this kube config (an object or YAML text). */
export async function createKubectl(config: object | string): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-kubectl-'))
  const file = async (name: string, content: string | object): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o700 })
    return path
  }
  const common = ['--kubeconfig', await file('config', config), '--cache-dir', join(folder, 'cache')]
  const launch = (args: string[], environment: Record<string, string> = {}): ChildProcess =>
    spawn(binary ?? 'kubectl', [...common, ...args], {
      env: { ...process.env, TMPDIR: folder, KUBECACHEDIR: join(folder, 'cache'), KUBERC: 'off', ...environment },
    })
  const run = (args: string[], environment?: Record<string, string>, input = ''): Promise<CommandResult> =>
    new Promise((resolve, reject) => {
      const child = launch(args, environment)
      const ran: CommandResult = { code: null, stdout: '', stderr: '' }
      child.stdout?.on('data', (chunk: Buffer) => {
        ran.stdout += chunk
      })
      child.stderr?.on('data', (chunk: Buffer) => {
        ran.stderr += chunk
      })
      child.once('error', reject)
      child.once('close', (code) => resolve({ ...ran, code }))
      feed(child, input)
    })
  const running = new Set<ChildProcess>()
  return {
    folder,
    file,
    run: (...args) => run(args),
    runWith: (environment, ...args) => run(args, environment),
    feed: (input, ...args) => run(args, {}, input),
    start(...args) {
      const child = launch(args)
      running.add(child)
      let output = ''
      let closed = false
      const waiting = new Set<() => void>()
      const collect = (chunk: Buffer | string) => {
        output += chunk
        for (const look of waiting) look()
      }
      child.stdout?.on('data', collect)
      child.stderr?.on('data', collect)
      const ended = new Promise<void>((resolve) => {
        child.once('close', () => {
          closed = true
          collect('')
          resolve()
        })
      })
      return {
        until: (pattern) =>
          new Promise((resolve, reject) => {
            const look = () => {
              if (pattern.test(output)) resolve(output)
              else if (closed) reject(new Error(`kubectl ended before ${pattern}: ${output}`))
              else return
              waiting.delete(look)
            }
            waiting.add(look)
            look()
          }),
        async end() {
          running.delete(child)
          child.kill()
          await ended
        },
      }
    },
    async stop() {
      for (const child of running) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns kubectl with an access key, by default the administrator's. Its discovery cache is filled, so that tests do not race for it. */
export async function kubectlOf(server: TestServer, key: string = server.adminKey): Promise<Kubectl> {
  const kubectl = await createKubectl(kubeConfig(server.base, server.certificateAuthority, key))
  await kubectl.run('api-resources')
  return kubectl
}

/** Provides the shared server to all tests of a file, and kubectl as its administrator. */
export function useKubectl(): { server: TestServer; kubectl: Kubectl } {
  const server = useServer()
  let kubectl: Kubectl | undefined
  beforeAll(async () => {
    kubectl = await kubectlOf(server)
  })
  afterAll(() => kubectl?.stop())
  return { server, kubectl: later(() => kubectl) }
}

/** Returns the output of kubectl after an operation on an access key. */
export const outputOf = (name: string, what: string): CommandResult => ({
  code: 0,
  stdout: `ownedaccesskey.management.platform/${name} ${what}\n`,
  stderr: '',
})
