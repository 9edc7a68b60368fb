/**
 * Deploys the project or updates a deployment, and fills its empty secrets. Idempotent.
 */
import { join } from 'node:path'
import { build } from './build.ts'
import { type Command, runCommand } from './command.ts'
import { osls, outputsOf, param, type StackTarget, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run deploy',
  about: `Deploys the project or updates a deployment. Creates the pepper and the first access key in Secrets Manager where
they are missing, and prints neither. Reads AWS credentials from the environment.`,
  options: { ...target, param },
} as const satisfies Command

const say = (text: string) => process.stdout.write(`${text}\n`)

async function deploy(settings: StackTarget): Promise<void> {
  const all = toolArguments(settings)
  const named = toolArguments({ ...settings, param: [] })
  const bundles = await build(join(import.meta.dirname, '..'))
  say(`${bundles.length} functions bundled, deploying (the first deploy takes some minutes)`)
  await osls('deploy', all)
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

${readSecret(settings, String(AccessKeySecretId))} |
  npm run smoke -- --url ${Url} --key-file /dev/stdin

docs/deploying.md describes how to create a kube config with that key, docs/monitoring.md how to subscribe to the alarms.`)
}

/** Returns the shell command that prints a secret. */
const readSecret = ({ region, 'aws-profile': profile }: StackTarget, secret: string): string =>
  [
    `aws secretsmanager get-secret-value --region ${region}`,
    ...(profile === undefined ? [] : [`--profile ${profile}`]),
    `--secret-id ${secret} --query SecretString --output text`,
  ].join(' ')

await runCommand(COMMAND, deploy)
