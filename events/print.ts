/** Prints the sample event of a function: `npm run sample-event`. */
import { runCommand, UsageError } from '../infra/command.ts'
import { functions } from '../infra/functions.ts'
import { sampleEvent } from './sample.ts'

const COMMAND = {
  call: 'npm run sample-event',
  about:
    'Prints an event to try a function with. FUNCTION is its path below functions/, such as ownedaccesskeys/create.',
  words: 'FUNCTION',
  options: {},
} as const

await runCommand(COMMAND, async (_, [name = '']) => {
  if (!functions.some(({ path }) => path === name))
    throw new UsageError(`there is no function ${name || 'without a name'}`)
  process.stdout.write(`${JSON.stringify(sampleEvent(name), null, 2)}\n`)
})
