/**
 * Deploys the project or updates a deployment, and fills its empty secrets. Idempotent.
 */
import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway'
import { type Shell, shellOf, shellWords } from '../clients/core/src/shellwords.ts'
import { rfc3339OfUnix } from '../lib/engine/meta/encoding/time.ts'
import type { UnusedKeys } from '../lib/keys/events/unused.ts'
import { type Command, runCommand, UsageError } from './command.ts'
import { osls, outputsOf, param, type StackTarget, target, toolArguments } from './osls.ts'
import { ensurePackaged } from './package.ts'

const COMMAND = {
  call: 'npm run deploy',
  about: `Deploys the project or updates a deployment. Creates the pepper and the first access key in Secrets Manager where
they are missing, and prints neither. Reads AWS credentials from the environment.`,
  options: {
    ...target,
    param,
    tag: { type: 'string', multiple: true, value: 'NAME=VALUE', help: 'a tag of every resource; pass all each time' },
  },
} as const satisfies Command

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Returns tags as an object. Throws a UsageError for one that CloudFormation would refuse. */
function readTags(given: readonly string[]): Record<string, string> {
  const entries = given.map((one) => {
    const [, name = '', value = ''] = /^([^=]{1,128})=(.{1,256})$/s.exec(one) ?? []
    if (name === '' || /^aws:/i.test(name)) throw new UsageError(`--tag ${one} is not NAME=VALUE`)
    return [name, value] as const
  })
  return Object.fromEntries(entries)
}

/**
 * Throws if the deployment would replace the role with which API Gateway writes the logs of other APIs, or would have none. There is
 * one for all APIs of an account and region. `settings` say what to do with it.
 */
export function checkLogRole(role: string, settings: readonly string[]): void {
  const keeps = settings.includes('api-log-role=keep')
  if (keeps && role === '')
    throw new Error(`API Gateway has no role for logs in this account and region, and cannot deploy the stage without one.
Pass --param api-log-role=set, or set a role first.`)
  if (keeps || settings.includes('api-log-role=set') || role === '' || role.includes('/keyplane-')) return
  throw new Error(`API Gateway writes the logs of this account and region with the role ${role}, which this deployment would replace.
Pass --param api-log-role=keep to leave it alone, or --param api-log-role=set to replace it.`)
}

/** Returns the ARN of that role, or nothing. */
async function logRole({ region, 'aws-profile': profile }: StackTarget): Promise<string> {
  const client = new APIGatewayClient({ ...(region && { region }), ...(profile && { profile }) })
  return (await client.send(new GetAccountCommand({}))).cloudwatchRoleArn ?? ''
}

async function deploy({ tag, ...settings }: StackTarget & { tag: readonly string[] }): Promise<void> {
  const all = toolArguments(settings)
  const tags = readTags(tag)
  checkLogRole(await logRole(settings), settings.param ?? [])
  const named = toolArguments({ ...settings, param: [] })
  // What is packaged stays: another command may upload it at the same time.
  await ensurePackaged({ quiet: true, say })
  say('Deploying (the first deploy takes some minutes) ...')
  await osls('deploy', all, tags)
  // The response reports what the function did and never contains a secret.
  const { pepper, accessKey } = JSON.parse(await osls('invoke --function bootstrap', named))
  const { Url, TableName, AccessKeySecretId, AlarmTopicArn, DomainTarget, DomainHostedZoneId } = await outputsOf(named)
  const record = DomainTarget === undefined ? '' : `\ndns         ${DomainTarget} (hosted zone ${DomainHostedZoneId})`
  say(`url         ${Url}${record}
table       ${TableName}
pepper      ${pepper}
first key   ${accessKey}, in secret ${AccessKeySecretId}
alarms      ${AlarmTopicArn}

Next, check the deployment. These commands write the first key to no file and no command line:

${checkCommands(settings, { url: String(Url), secret: String(AccessKeySecretId) }, shellOf(process.env, process.platform))}

docs/deploying.md describes how to create a kube config with that key, docs/monitoring.md how to subscribe to the alarms.`)
  if (!(settings.param ?? []).some((one) => /^max-idle-seconds=[1-9]/.test(one))) return
  // It counts them when the setting has changed, and also without this call, within a minute.
  const { unused } = JSON.parse(await osls('invoke --function lifecycle --data {}', named))
  if (unused) say(`\n${unusedText(unused)}`)
}

/** Says how many keys the setting max-idle-seconds ends. */
export function unusedText({ keys, ended, from, isWhole }: UnusedKeys): string {
  const some = `${isWhole ? '' : 'At least '}${keys} access ${keys === 1 ? 'key was' : 'keys were'} not used for that long`
  if (keys === 0 && isWhole) return 'max-idle-seconds: no access key was unused for that long.'
  if (ended > 0) return `max-idle-seconds: ${some}; ${ended} of them ended now.`
  return `max-idle-seconds: ${some}. What is still unused on ${rfc3339OfUnix(from)} ends then.`
}

/** Returns the commands that read the first key from its secret and check the deployment with it. */
export function checkCommands(
  { region = '', 'aws-profile': profile }: StackTarget,
  { url, secret }: { url: string; secret: string },
  shell: Shell,
): string {
  const named = ['--region', region, ...(profile === undefined ? [] : ['--profile', profile]), '--secret-id', secret]
  const read = ['aws', 'secretsmanager', 'get-secret-value', ...named, '--query', 'SecretString', '--output', 'text']
  const check = ['npm', 'run', 'smoke', '--', '--url', url, '--key-file', '-']
  return `${shellWords(read, shell)} | ${shellWords(check, shell)}`
}

if (import.meta.main) await runCommand(COMMAND, deploy)
