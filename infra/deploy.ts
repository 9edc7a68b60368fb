/**
 * Deploys the project, or brings a deployment up to date, and sees to it that its secrets are filled. Can be run again at any
 * time: what is as it should be stays.
 */
import { join } from 'node:path'
import { build } from './build.ts'
import { type Command, run } from './command.ts'
import { osls, outputsOf, param, type Target, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run deploy',
  about: `Deploys the project, or brings a deployment up to date. Makes the pepper and the first access key where there
are none, in Secrets Manager, and prints neither. Takes credentials of AWS from the environment.`,
  options: { ...target, param },
} as const satisfies Command

const say = (text: string) => process.stdout.write(`${text}\n`)

async function deploy(settings: Target): Promise<void> {
  const all = toolArguments(settings)
  const named = toolArguments({ ...settings, param: [] })
  const bundles = await build(join(import.meta.dirname, '..'))
  say(`${bundles.length} functions bundled, deploying (a first time takes some minutes)`)
  await osls('deploy', all)
  // Its answer says what it did, never what it made.
  const { pepper, accessKey } = JSON.parse(await osls('invoke --function bootstrap', named))
  const { Url, TableName, AccessKeySecretId, AlarmTopicArn } = await outputsOf(named)
  say(`url         ${Url}
table       ${TableName}
pepper      ${pepper}
first key   ${accessKey}, in secret ${AccessKeySecretId}
alarms      ${AlarmTopicArn}

Next, check that it serves as it must. The first key goes into no file and no command line:

${readSecret(settings, String(AccessKeySecretId))} |
  npm run smoke -- --url ${Url} --key-file /dev/stdin

docs/deploying.md makes a kube config with that key; docs/monitoring.md subscribes to the alarms.`)
}

/** Returns the command that prints a secret. */
const readSecret = ({ region, 'aws-profile': profile }: Target, secret: string): string =>
  [
    `aws secretsmanager get-secret-value --region ${region}`,
    ...(profile === undefined ? [] : [`--profile ${profile}`]),
    `--secret-id ${secret} --query SecretString --output text`,
  ].join(' ')

await run(COMMAND, deploy)
