/**
 * Deploys the project, or brings a deployment up to date, and sees to it that its secrets are filled. Can be run again at any
 * time: what is as it should be stays.
 */
import { join } from 'node:path'
import { build } from './build.ts'
import { command } from './command.ts'
import { osls, outputsOf, readTarget } from './osls.ts'

const USAGE = `usage: npm run deploy -- --stage STAGE --region REGION [--param NAME=VALUE]... [--aws-profile PROFILE]
  --stage STAGE        name of the deployment: at most 13 small letters and digits
  --region REGION      where it is
  --param NAME=VALUE   a setting, see docs/operations.md; give the same ones each time
`

const say = (text: string) => process.stdout.write(`${text}\n`)

async function deploy(args: string[]): Promise<void> {
  const settings = readTarget(args, { params: true })
  const target = settings.filter((one) => !one.startsWith('--param='))
  const bundles = await build(join(import.meta.dirname, '..'))
  say(`${bundles.length} functions bundled, deploying (a first time takes some minutes)`)
  await osls('deploy', settings)
  // Its answer says what it did, never what it made.
  const { pepper, accessKey } = JSON.parse(await osls('invoke --function bootstrap', target))
  const { Url, TableName, AccessKeySecretId, AlarmTopicArn } = await outputsOf(target)
  say(`url         ${Url}
table       ${TableName}
pepper      ${pepper}
first key   ${accessKey}, in secret ${AccessKeySecretId}
alarms      ${AlarmTopicArn}`)
}

await command(USAGE, deploy)
