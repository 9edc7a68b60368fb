/** `keyplane history`: shows what happened to an access key, and its family. */
import type { JsonValue } from '../../../../lib/engine/meta/types.ts'
import { actorWords, eventDetails, eventWords, LATE } from '../../../core/src/historywords.ts'
import type { HistoryEvent, KeyHistory } from '../../../core/src/objects.ts'
import { asKey, keyPath } from '../api/keys.ts'
import { listAll } from '../api/lists.ts'
import { inParallel } from '../api/parallel.ts'
import { openSession, type Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { command } from '../arguments/command.ts'
import { moment } from '../arguments/moment.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { printAs } from '../output/print.ts'
import { facts, outputTable } from '../output/table.ts'
import { ago } from '../output/times.ts'

export const history = command({
  name: ['history'],
  summary: 'Show what happened to an access key, what made it, and what it made; or what happened to all keys',
  description:
    'Without NAME the command shows what happened to the keys that you may list since yesterday, or since --since, the newest first. Of keys that were deleted only the audit log knows.',
  positionals: [{ name: 'NAME', help: 'name of the key', optional: true, names: 'keys' }],
  options: {
    since: {
      type: 'string',
      value: 'TIME|DURATION',
      help: 'without NAME: what happened since then, such as 12h or 2026-11-22',
      default: '24h',
    },
  },
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Show the time line and the family of a key', run: 'keyplane history ci' },
    { does: 'Show all fields', run: 'keyplane history ci -o yaml' },
    { does: 'Show what happened last night', run: 'keyplane history --since 12h' },
  ],
  async run({ values: { context, output, since }, positionals: [name] }, io) {
    if (name !== undefined && since !== undefined) throw new UsageError('--since is for the history of all keys.')
    const from = moment(since ?? '24h', '--since', io.now())
    const session = await openSession(io, { context })
    if (name === undefined) {
      const events = await eventsSince(session, from, io)
      if (output !== undefined)
        return printAs(output, { kind: 'KeyEventList', items: events as unknown as JsonValue[] }, io)
      if (events.length > 0)
        io.out(
          outputTable(
            ['WHEN', 'KEY', 'WHAT', 'BY', 'DETAILS'],
            events.map((one) => eventRow(one, io)),
            io,
          ),
        )
      return note(io, `${events.length === 0 ? `Nothing has happened since ${from}. ` : ''}${LATE}`)
    }
    const object = await session.get(`${keyPath(name)}/history`)
    if (output !== undefined) return printAs(output, object, io)
    const { status = {} } = object as unknown as { status?: KeyHistory }
    io.out(`${timeLine(status, io)}${LATE}\n\n${facts(familyOf(status, io))}`)
  },
})

/** An event, and the key that it is about. */
type KeyEvent = HistoryEvent & { key: string }

/** For how many keys the history is asked, each with a request. */
const MOST_KEYS = 500

/** Returns what happened to the keys that the reader may list, the newest first. */
async function eventsSince(session: Session, from: string, io: Io): Promise<KeyEvent[]> {
  const { items } = await listAll(session, keyPath())
  const names = items.map((item) => asKey(item).metadata.name)
  if (names.length > MOST_KEYS) note(io, `The history is shown for the first ${MOST_KEYS} of ${names.length} keys.`)
  const read = await inParallel(names.slice(0, MOST_KEYS), async (key) => {
    const object = await session.get(`${keyPath(key)}/history`).catch((error: unknown) => {
      // It was deleted since, or only its status may be read.
      if (!(error instanceof StatusError) || ![403, 404].includes(error.code)) throw error
    })
    const { events = [] } = (object?.status ?? {}) as KeyHistory
    return events.filter(({ time }) => Date.parse(time) >= Date.parse(from)).map((event) => ({ ...event, key }))
  })
  return read.flat().sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
}

const eventRow = (event: KeyEvent, io: Io): string[] => [
  ago(event.time, io.now()),
  event.key,
  eventWords(event),
  actorWords(event),
  eventDetails(event).join(', '),
]

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
