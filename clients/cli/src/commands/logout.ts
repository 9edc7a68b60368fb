/** `keyplane logout`: forgets a context, its key and its cached credentials. */
import { forgetContext } from '../api/exchange.ts'
import { serverUrl } from '../api/serverurl.ts'
import { noContext, unknownContext } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import { forgetNames } from '../completion/names.ts'
import { changeConfig } from '../config/contexts.ts'
import { UsageError } from '../io/errors.ts'
import { note } from '../output/messages.ts'

export const logout = command({
  name: ['logout'],
  summary: 'Forget the key of a context, and its cached credentials',
  description: 'The key itself stays valid. To end it as well, delete it first: keyplane keys delete NAME.',
  options: {},
  examples: [
    { does: 'Forget the current context', run: 'keyplane logout' },
    { does: 'Forget another one', run: 'keyplane logout --context staging' },
  ],
  async run({ values: { context } }, io) {
    if (context === undefined && io.env.KEYPLANE_URL) {
      throw new UsageError(
        'KEYPLANE_URL is set, so no context is in use.',
        'To forget a context, name it: keyplane logout --context NAME',
      )
    }
    let left: string[] = []
    let current: string | undefined
    let name = ''
    await changeConfig(io, (config) => {
      const asked = context ?? config.currentContext
      if (asked === undefined) throw noContext(config.contexts)
      const known = config.contexts.get(asked)
      if (known === undefined) throw unknownContext(asked, config.contexts.keys())
      config.contexts.delete(asked)
      const names = [...config.contexts.keys()]
      if (config.currentContext === asked) {
        delete config.currentContext
        // With several, none is a safe choice.
        if (names.length === 1 && names[0] !== undefined) config.currentContext = names[0]
      }
      name = asked
      forgetNames(io)
      forgetContext(io, { ...known, server: serverUrl(known.server) })
      left = names
      current = config.currentContext
    })
    note(io, `Logged out of ${name}.`)
    if (current !== undefined) note(io, `The current context is ${current}.`)
    else if (left.length > 0)
      note(
        io,
        `No context is the current one. Still logged in to: ${left.join(', ')}. Choose one with: keyplane use NAME`,
      )
  },
})
