/** Deploys stacks from the files of a release, without the commands of this repository. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { release } from '../../infra/release.ts'
import { readPage } from '../support/commands.ts'
import { type CommandLine, startCommandLine } from './commandline.ts'
import { type Emulator, startEmulator } from './emulator.ts'

const { commandsOf } = await readPage('docs/deploying.md')

interface ReleaseStack {
  /** Has the files of the release in `files`. */
  folder: string
  emulator: Emulator
  commandLine: CommandLine
}

/** The release and the emulator of the tests. */
export const at = {} as ReleaseStack

/**
 * Makes the release, and starts an emulator for the tests of a file. `rollouts` is that of `startEmulator`. A busy machine takes more
 * than the second that a call of the table may take, while the emulator deploys; sixty times as long, no request of a test waits.
 */
export function useRelease(rollouts: readonly string[]): void {
  beforeAll(async () => {
    at.folder = await mkdtemp(join(tmpdir(), 'keyplane-release-'))
    ;[at.emulator, at.commandLine] = await Promise.all([
      startEmulator({ rollouts, slower: 60 }),
      startCommandLine(at.folder),
    ])
    await release(join(at.folder, 'files'), { root: join(import.meta.dirname, '../..') })
  })
  afterAll(async () => {
    await at.commandLine?.stop()
    await at.emulator?.stop()
    await rm(at.folder, { recursive: true, force: true })
  })
}

export const environment = () => ({ ...process.env, ...at.emulator.environment, AWS_DEFAULT_REGION: 'eu-central-1' })

/** Runs commands in the folder of the files, and stops at the first failure. */
export async function shell(...commands: readonly string[]): Promise<string> {
  const script = [at.commandLine.definition, ...commands].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: join(at.folder, 'files'),
    env: environment(),
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

/** Returns the commands below a heading of docs/deploying.md. */
export const page = (heading: string, given: Record<string, string> = { BUCKET: 'artifacts' }) =>
  commandsOf(heading, 0, given)

export type Api = (path: string, init?: RequestInit) => Promise<Response>

/** Returns a function that calls a deployment with its first key, which it makes if it is missing. */
export async function apiOf(stage: string): Promise<Api> {
  await shell(page('The first key', { 'keyplane-prod': `keyplane-${stage}` }))
  const outputs = JSON.parse(
    await shell(
      `aws cloudformation describe-stacks --stack-name keyplane-${stage} --query Stacks[0].Outputs --output json`,
    ),
  ) as { OutputKey: string; OutputValue: string }[]
  const { host } = new URL(outputs.find(({ OutputKey }) => OutputKey === 'Url')?.OutputValue ?? '')
  const key = await shell(
    `aws secretsmanager get-secret-value --secret-id keyplane/${stage}/access-key --query SecretString --output text`,
  )
  const headers = { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' }
  const base = `${at.emulator.url}/restapis/${host.split('.')[0]}/${stage}/_user_request_/kubernetes/management`
  return (path, init) => fetch(`${base}${path}`, { ...init, headers })
}

/** Returns the status of a GET of an object that does not exist. */
export const statusIn = async (stage: string): Promise<number> =>
  (await (await apiOf(stage))('/apis/management.platform/v1/ownedaccesskeys/missing')).status
