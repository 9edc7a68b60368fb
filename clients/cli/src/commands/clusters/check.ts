/** `keyplane clusters check`: goes the way from a key into a connected cluster, and says what is missing on it. */
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { goInto } from '../../connect/way.ts'
import { CliError } from '../../io/errors.ts'
import { plainLines } from '../../output/plain.ts'

export const clustersCheck = command({
  name: ['clusters', 'check'],
  summary: 'Test the whole way into a connected cluster, and say what is missing',
  description:
    'The command gets a token for the cluster as kubectl does, and asks the cluster who its user is. It prints a line for each step, and ends at the first one that fails, with what to do about it. Where service accounts issue the tokens, the step "token" includes that keyplane reaches the cluster, its rights there and your account. It changes nothing, except that such a cluster has a Secret for the token until your key ends.',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: {},
  examples: [{ does: 'Check a cluster', run: 'keyplane clusters check west' }],
  async run({ values: { context }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    await goInto(io, session, name, async (step, work) => {
      try {
        const [value, text] = await work()
        io.out(`${plainLines(`ok      ${step.padEnd(9)}${text}`)}\n`)
        return value
      } catch (error) {
        if (error instanceof CliError) io.out(`failed  ${step}\n`)
        throw error
      }
    })
  },
})
