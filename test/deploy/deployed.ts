/** Creates and changes a deployment on its own emulator with the commands of the project. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateAccessKeyCommand, CreateUserCommand, IAMClient, PutUserPolicyCommand } from '@aws-sdk/client-iam'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { policyFor } from '../../infra/deployerpolicy.ts'
import { additions } from '../infra/everysetting.ts'
import { type Client, createClient } from '../smoke/client.ts'
import { type Front, startFront } from '../support/front.ts'
import { type Emulator, startEmulator } from './emulator.ts'

const root = join(import.meta.dirname, '../..')
const region = 'eu-central-1'

type Execute = (
  command: string,
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<string>

export interface Deployed {
  emulator: Emulator
  secrets: SecretsManagerClient
  /** The output of the first deployment by label. */
  said: Record<string, string>
  /** The output of all commands of the project. */
  printed: readonly string[]
  adminKey: string
  /** `https://127.0.0.1:PORT/STAGE/kubernetes/management` */
  url: string
  certificateAuthority: string
  client: Client
  /** Runs any command in the folder of the project and returns its standard output. Rejects when it fails. */
  execute: Execute
  /** Runs a command of the project, whose output is then in `printed`. */
  run: Execute
  /** Environment with credentials that have only the rights of `npm run deployer-policy`. Later deployments and the removal use them. */
  deployer: Record<string, string>
  /** Runs `npm run SCRIPT` for this deployment. */
  npm(script: string, ...args: readonly string[]): Promise<string>
  osls(command: string, ...args: readonly string[]): Promise<string>
  /** Deploys with these settings, `NAME=VALUE`, and returns its output by label. */
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

  function start(command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = { ...process.env, ...emulator.environment, ...more }
    const running = promisify(execFile)(command, args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 })
    // The command would wait for the end of its input.
    running.child.stdin?.end()
    return running
  }
  const execute: Execute = async (...call) => (await start(...call)).stdout
  const run: Execute = async (...call) => {
    const { stdout, stderr } = await start(...call)
    printed.push(stdout, stderr)
    return stdout
  }
  const npm = (script: string, ...args: readonly string[]) =>
    run('npm', ['run', '--silent', script, '--', ...target, ...args], deployer)
  async function deploy(...given: readonly string[]): Promise<Record<string, string>> {
    return byLabel(await npm('deploy', ...given.flatMap((setting) => ['--param', setting])))
  }
  const secretText = async (SecretId: string) =>
    (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? ''
  let front: Front | undefined
  async function stop() {
    await front?.stop()
    secrets.destroy()
    iam.destroy()
    await emulator.stop()
  }

  const iam = new IAMClient({ endpoint: emulator.url, region, credentials })
  let deployer: Record<string, string> = {}
  try {
    const said = await deploy(...settings)
    // All later commands have only these rights. The policy of the bucket would refuse the HTTP of the emulator.
    await openBucket(emulator, `keyplane-${stage}`)
    deployer = await makeDeployer(iam, stage)
    const adminKey = await secretText(`keyplane/${stage}/access-key`)
    const [api] = new URL(said.url ?? '').host.split('.')
    // The emulator finds the API by its host, and removes the stage from the path itself.
    front = await startFront(`/${stage}`, { url: `${emulator.url}/${stage}`, host: `${api}.execute-api.localhost` })
    const url = `${front.url}/kubernetes/management`
    const { certificateAuthority } = front
    const osls = (command: string, ...args: readonly string[]) =>
      run(join(root, 'node_modules/.bin/serverless'), [command, ...args, ...target], deployer)
    const client = createClient({ url, key: adminKey, ca: certificateAuthority })
    return {
      emulator,
      secrets,
      said,
      printed,
      adminKey,
      url,
      certificateAuthority,
      client,
      execute,
      run,
      deployer,
      npm,
      osls,
      deploy,
      secretText,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns what a command prints as `label  value`. */
export const byLabel = (said: string): Record<string, string> =>
  Object.fromEntries([...said.matchAll(/^(\w+(?: \w+)?) {2,}(.*)$/gm)].map(([, name, value]) => [name, value]))

/** Removes the policy of the deployment bucket. The emulator checks only the name in a signature. */
async function openBucket({ url }: Emulator, stack: string): Promise<void> {
  const signedHeaders = (service: string) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
  })
  const body = new URLSearchParams({ Action: 'DescribeStackResources', StackName: stack, Version: '2010-05-15' })
  const described = await fetch(url, { method: 'POST', headers: signedHeaders('cloudformation'), body })
  const [, bucket] = /<PhysicalResourceId>([\w-]*deploymentbucket-\w+)</.exec(await described.text()) ?? []
  const { status } = await fetch(`${url}/${bucket}?policy`, { method: 'DELETE', headers: signedHeaders('s3') })
  if (status !== 204) throw new Error(`the policy of the bucket ${bucket} stays: ${status}`)
}

/** Creates a user with the rights that docs/deploying.md requires. */
async function makeDeployer(iam: IAMClient, stage: string): Promise<Record<string, string>> {
  const UserName = 'deployer'
  await iam.send(new CreateUserCommand({ UserName }))
  // With a domain, which a later deployment adds.
  const param = [`domain=${additions.domain}`, `certificate-arn=${additions['certificate-arn']}`]
  const PolicyDocument = JSON.stringify(policyFor({ stage, region, param }))
  await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'deploy', PolicyDocument }))
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }))
  return {
    AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey ?? '',
  }
}
