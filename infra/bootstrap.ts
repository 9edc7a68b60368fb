/** Fills the empty secrets of a deployment: the pepper, and the first access key when no administrator's key works. */
import { type Command, runCommand } from './command.ts'
import { osls, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run bootstrap',
  about: `Creates the pepper and the first access key of a deployment in Secrets Manager where they are missing, and prints what
it created. Does nothing while the first key works.`,
  options: target,
} as const satisfies Command

await runCommand(COMMAND, async (deployment) => {
  process.stdout.write(await osls('invoke --function bootstrap --data {}', toolArguments(deployment)))
})
