/** `keyplane history`: shows what happened to an access key, and its family. */
import { actorWords, eventDetails, eventWords, LATE } from '../../../core/src/historywords.ts'
import type { KeyHistory } from '../../../core/src/objects.ts'
import { keyPath } from '../api/keys.ts'
import { openSession } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { printAs } from '../output/print.ts'
import { facts, outputTable } from '../output/table.ts'
import { ago } from '../output/times.ts'

export const history = command({
  name: ['history'],
  summary: 'Show what happened to an access key, what made it, and what it made',
  positionals: [{ name: 'NAME', help: 'name of the key', names: 'keys' }],
  options: {},
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Show the time line and the family of a key', run: 'keyplane history ci' },
    { does: 'Show all fields', run: 'keyplane history ci -o yaml' },
  ],
  async run({ values: { context, output }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    const object = await session.get(`${keyPath(name)}/history`)
    if (output !== undefined) return printAs(output, object, io)
    const { status = {} } = object as unknown as { status?: KeyHistory }
    io.out(`${timeLine(status, io)}${LATE}\n\n${facts(familyOf(status, io))}`)
  },
})

function timeLine({ events = [] }: KeyHistory, io: Io): string {
  const rows = events.map((event) => [
    ago(event.time, io.now()),
    eventWords(event),
    actorWords(event),
    eventDetails(event).join(', '),
  ])
  return rows.length === 0
    ? 'Nothing is known about it yet.\n'
    : outputTable(['WHEN', 'WHAT', 'BY', 'DETAILS'], rows, io)
}

function familyOf({ since, madeWith, made = [], truncated }: KeyHistory, io: Io): [string, string | undefined][] {
  return [
    ['History since', since ?? 'not known yet'],
    ['Made with', madeWith && (madeWith.name ?? madeWith.uid)],
    ...made.map(({ name, made, phase }): [string, string] => [
      'Made',
      [name, ago(made, io.now()), (phase ?? '').toLowerCase()].join(', '),
    ]),
    ['Made', truncated ? 'more keys, which are not shown' : undefined],
  ]
}
