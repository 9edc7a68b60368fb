/** A deployment on an emulator of its own, made and changed by the commands that people use. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { type Client, createClient } from '../smoke/client.ts'
import { type Emulator, startEmulator } from './emulator.ts'

const root = join(import.meta.dirname, '../..')
const region = 'eu-central-1'

export interface Deployed {
  emulator: Emulator
  secrets: SecretsManagerClient
  /** What the first deploy said, by the words before the gap. */
  said: Record<string, string>
  /** What all commands have printed. */
  printed: readonly string[]
  adminKey: string
  /** The API as the emulator serves it, over HTTP. */
  url: string
  client: Client
  /** Runs a command in the project; what it wrote to standard output. Rejects when it fails. */
  run(command: string, args: readonly string[], environment?: Record<string, string>): Promise<string>
  /** `npm run SCRIPT` for this deployment. */
  npm(script: string, ...args: readonly string[]): Promise<string>
  osls(command: string, ...args: readonly string[]): Promise<string>
  /** Deploys with these settings, `NAME=VALUE`; what it says, as `said`. */
  deploy(...settings: readonly string[]): Promise<Record<string, string>>
  secretText(id: string): Promise<string>
  stop(): Promise<void>
}

export async function startDeployed(stage: string, ...settings: readonly string[]): Promise<Deployed> {
  const emulator = await startEmulator()
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = emulator.environment
  const credentials = { accessKeyId, secretAccessKey }
  const secrets = new SecretsManagerClient({ endpoint: emulator.url, region, credentials })
  const target = ['--stage', stage, '--region', region]
  const printed: string[] = []

  async function run(command: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> {
    const env = { ...process.env, ...emulator.environment, ...more }
    const running = promisify(execFile)(command, args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 })
    // It would wait for the end of its input.
    running.child.stdin?.end()
    const { stdout, stderr } = await running
    printed.push(stdout, stderr)
    return stdout
  }
  const npm = (script: string, ...args: readonly string[]) =>
    run('npm', ['run', '--silent', script, '--', ...target, ...args])
  async function deploy(...given: readonly string[]): Promise<Record<string, string>> {
    const said = await npm('deploy', ...given.flatMap((setting) => ['--param', setting]))
    return Object.fromEntries([...said.matchAll(/^(\w+(?: \w+)?) {2,}(.*)$/gm)].map(([, name, value]) => [name, value]))
  }
  const secretText = async (SecretId: string) =>
    (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? ''
  async function stop() {
    secrets.destroy()
    await emulator.stop()
  }

  try {
    const said = await deploy(...settings)
    const adminKey = await secretText(`keyplane/${stage}/access-key`)
    const [api] = new URL(said.url ?? '').host.split('.')
    const url = `${emulator.url}/restapis/${api}/${stage}/_user_request_/kubernetes/management`
    const osls = (command: string, ...args: readonly string[]) =>
      run(join(root, 'node_modules/.bin/serverless'), [command, ...args, ...target])
    const client = createClient({ url, key: adminKey })
    return { emulator, secrets, said, printed, adminKey, url, client, run, npm, osls, deploy, secretText, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
