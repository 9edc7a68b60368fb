/** Removes a deployment, but for what cannot be made again: its table, pepper and signing key stay and are named. */
import { command } from './command.ts'
import { osls, outputsOf, readTarget } from './osls.ts'

const USAGE = 'usage: npm run remove -- --stage STAGE --region REGION [--aws-profile PROFILE]\n'

async function remove(args: string[]): Promise<void> {
  const target = readTarget(args)
  const { TableName, PepperSecretId, SigningKeyId } = await outputsOf(target)
  await osls('remove', target)
  process.stdout.write(`removed; left are
table         ${TableName}
pepper        ${PepperSecretId}
signing key   ${SigningKeyId}
`)
}

await command(USAGE, remove)
