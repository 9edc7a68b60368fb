/** `keyplane whose`: says to whom the value of an access key belongs. */
import type { KeyLookup } from '../../../core/src/objects.ts'
import { wholeKeyIn } from '../api/keytext.ts'
import { API, openSession } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { plain } from '../output/plain.ts'
import { printAs } from '../output/print.ts'
import { facts } from '../output/table.ts'

export const whose = command({
  name: ['whose'],
  summary: 'Say which access key has a value that you have found',
  description:
    'It reads the value from standard input; in a terminal it is asked for and not shown. The value never belongs on the command line, where other users see it. Only keys that you may read are found, also by a value that has ended. Looking a value up is not a use of it, and ends nothing: report a leaked one with keyplane report-leak. The exit code is 1 if no such key is found.',
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Ask about a value, which is typed or pasted', run: 'keyplane whose' },
    { does: 'Print the name of the key whose value is in a file', run: 'keyplane whose -o name < found' },
  ],
  async run({ values: { context, output } }, io) {
    const key = wholeKeyIn(
      await read(io),
      io.isTerminal.in ? 'in your input' : 'on standard input',
      'Give it on standard input: keyplane whose < FILE',
    )
    const session = await openSession(io, { context })
    const lookup = await session.post(`${API}/accesskeylookups`, { spec: { key } }, { repeatable: true })
    const status = (lookup.status ?? {}) as KeyLookup
    const isFound = status.name !== undefined
    if (output === 'name') io.out(isFound ? `${plain(status.name ?? '')}\n` : '')
    else if (output !== undefined) await printAs(output, lookup, io)
    else if (isFound) io.out(facts(factsOf(status)))
    if (!isFound) note(io, 'No access key that you may read has this value.')
    return isFound ? 0 : 1
  },
})

const read = async (io: Io): Promise<string> =>
  io.isTerminal.in ? ((await io.readHidden('Value of an access key (it is not shown): ')) ?? '') : io.readStdin()

const factsOf = ({ name, owner, phase = '' }: KeyLookup): [string, string | undefined][] => [
  ['Key', name],
  ['Owner', owner],
  ['State', phase === 'Ended' ? 'the key does not have this value any more' : phase.toLowerCase()],
]
