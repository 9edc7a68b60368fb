/** Fills the secrets of a deployment that are empty: the pepper, and the first access key where no administrator's key works. */
import { type Command, run } from './command.ts'
import { osls, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run bootstrap',
  about: `Makes the pepper and the first access key of a deployment where there are none, in Secrets Manager, and says what it
made. As long as the first key works it does nothing.`,
  options: target,
} as const satisfies Command

await run(COMMAND, async (deployment) => {
  process.stdout.write(await osls('invoke --function bootstrap --data {}', toolArguments(deployment)))
})
