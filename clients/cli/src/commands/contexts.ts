/** `keyplane contexts` and `keyplane use`: show the servers that this machine is logged in to, and choose one. */
import { unknownContext } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import { type Context, changeConfig, readConfig } from '../config/contexts.ts'
import type { Io } from '../io/io.ts'
import { note, warn } from '../output/messages.ts'
import { printAs } from '../output/print.ts'
import { outputTable } from '../output/table.ts'

export const contexts = command({
  name: ['contexts'],
  summary: 'List the contexts: the servers that you are logged in to',
  description:
    'It asks no server and prints no key. The current context is the one that commands use without --context.',
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'List the contexts', run: 'keyplane contexts' },
    { does: 'Print their names, for scripts', run: 'keyplane contexts -o name' },
  ],
  local: true,
  async run({ values: { output } }, io) {
    const { currentContext, contexts: all } = await readConfig(io)
    const rows = [...all].map(([name, context]) => ({
      name,
      server: context.server,
      isCurrent: name === currentContext,
      credential: credentialOf(context),
    }))
    if (output !== undefined) {
      const items = rows.map(({ name, ...spec }) => ({ metadata: { name }, ...spec }))
      return printAs(output, { kind: 'ContextList', items }, io)
    }
    if (rows.length === 0) return note(io, 'There are no contexts. Log in with: keyplane login URL')
    const cells = rows.map(({ name, server, isCurrent, credential }) => [
      isCurrent ? '*' : '',
      name,
      server,
      credential,
    ])
    io.out(outputTable(['CURRENT', 'NAME', 'SERVER', 'CREDENTIAL'], cells, io))
    warnOfEnvironment(io)
  },
})

const credentialOf = ({ exchange }: Context): string =>
  exchange === undefined ? 'access key' : 'exchange of ID tokens'

export const use = command({
  name: ['use'],
  summary: 'Make a context the current one',
  description: 'It asks no server.',
  positionals: [{ name: 'NAME', help: 'name of the context, as "keyplane contexts" prints it', names: 'contexts' }],
  options: {},
  examples: [{ does: 'Use another server', run: 'keyplane use staging' }],
  local: true,
  async run({ positionals: [name = ''] }, io) {
    let server = ''
    await changeConfig(io, (config) => {
      const context = config.contexts.get(name)
      if (context === undefined) throw unknownContext(name, config.contexts.keys())
      config.currentContext = name
      server = context.server
    })
    note(io, `The current context is ${name}: ${server}`)
    warnOfEnvironment(io)
  },
})

function warnOfEnvironment(io: Io): void {
  if (io.env.KEYPLANE_URL) warn(io, 'KEYPLANE_URL is set: commands without --context use it instead of a context.')
}
