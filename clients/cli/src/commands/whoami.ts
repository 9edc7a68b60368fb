/** `keyplane whoami`: shows the user and the key of the context. */
import { API, openSession } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import { plain } from '../output/plain.ts'
import { printAs } from '../output/print.ts'

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
    const self = await session.post(`${API}/selves`, {}, { repeatable: true })
    if (output !== undefined) return printAs(output, self, io)
    io.out(`${plain(JSON.stringify(self.status))}\n`)
  },
})
