/** `keyplane whoami`: shows the user and the key of the context. */

import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { readSelf, type Self } from '../api/self.ts'
import { openSession, type Session } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { plain } from '../output/plain.ts'
import { printAs } from '../output/print.ts'
import { facts } from '../output/table.ts'
import { expiry, withTime } from '../output/times.ts'

export const whoami = command({
  name: ['whoami'],
  summary: 'Show who you are, and with which key',
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Show the user, the key and the server of the current context', run: 'keyplane whoami' },
    { does: 'Print the name of the access key, for scripts', run: 'keyplane whoami -o name' },
  ],
  async run({ values: { context, output } }, io) {
    const session = await openSession(io, { context })
    const self = await readSelf(session)
    if (output === 'name') return io.out(`${plain(self.status.accessKey ?? '')}\n`)
    if (output !== undefined) return printAs(output, self.object, io)
    io.out(facts(factsOf(self, session, io)))
  },
})

function factsOf({ status }: Self, { server, context }: Session, io: Io): [string, string | undefined][] {
  const { user, subject = '', accessKey, accessKeyScope, expirationTimestamp, groups = [] } = status
  const named = user?.displayName && user.displayName !== subject ? `${subject} (${user.displayName})` : subject
  return [
    ['User', named],
    ['Groups', groups.join(', ')],
    ['Key', accessKey],
    ['May do', scopeWords(accessKeyScope)],
    ['Expires', withTime(expiry(expirationTimestamp, io.now()), expirationTimestamp)],
    ['Server', server],
    ['Context', context ?? 'none: the environment names the server'],
  ]
}
