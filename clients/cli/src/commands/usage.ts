/** `keyplane usage`: shows what an access key did. */
import { scopeDiff } from '../../../core/src/scopechange.ts'
import { entryOf, type KeyUsage, noRequestsWords, requestsIn } from '../../../core/src/usage.ts'
import { openSession } from '../api/session.ts'
import { readUsage, readUsedKey, type UsedKey } from '../api/usage.ts'
import { command } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { printAs } from '../output/print.ts'
import { facts, outputTable } from '../output/table.ts'
import { ago, withTime } from '../output/times.ts'

export const usage = command({
  name: ['usage'],
  summary: 'Show what a key did in the last 90 days, what was refused, and which lines of its scope it used',
  description:
    'A line of the scope is Used, Unused or Unknown. Unknown means that the key could use it where nothing is recorded, such as in a cluster that never asks the server what keys may do. Days are in UTC.',
  positionals: [{ name: 'NAME', help: 'name of the access key', names: 'keys' }],
  options: {},
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Show what a key did', run: 'keyplane usage ci' },
    { does: 'Show all of it, with the scope entry of each request', run: 'keyplane usage ci -o yaml' },
  ],
  async run({ values: { context, output }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    if (output !== undefined) return printAs(output, (await readUsage(session, name)).object, io)
    io.out(usageText(await readUsedKey(session, name), io))
  },
})

/** Returns the usage of a key, as a page. */
export function usageText(
  { key, usage }: Pick<UsedKey, 'key' | 'usage'>,
  io: Pick<Io, 'now' | 'isTerminal' | 'columns'>,
): string {
  const { lines = [], clusters = [] } = usage
  const { done, refused } = requestsIn(usage)
  const tableOf = (header: string[], rows: string[][]) => (rows.length > 0 ? [outputTable(header, rows, io)] : [])
  const rowsOfLines = lines.map((line) => {
    const entry = entryOf(key, line, lines)
    return [line.line, line.state, line.lastUsed ?? '', entry ? (scopeDiff({}, entry)[0]?.slice(2) ?? '') : '']
  })
  return [
    facts([
      ['Key', key.metadata.name],
      [
        'Recorded',
        usage.since === undefined ? undefined : withTime(`since ${ago(usage.since, io.now())}`, usage.since),
      ],
      ['Last used', withTime(ago(key.status?.lastActivity, io.now()), key.status?.lastActivity)],
    ]),
    ...sentencesOf(key, usage).map((text) => `${text}\n`),
    ...tableOf(['LINE', 'STATE', 'LAST USED', 'ENTRY'], rowsOfLines),
    ...tableOf(
      ['REQUEST', 'LAST USED'],
      done.map(({ request, lastUsed = '' }) => [request, lastUsed]),
    ),
    ...tableOf(
      ['ASKED FOR, REFUSED', 'LAST ASKED'],
      refused.map(({ request, lastUsed }) => [request, lastUsed]),
    ),
    ...(usage.refusedMore ? ['Its scope refused more kinds of requests than are recorded.\n'] : []),
    ...tableOf(
      ['CLUSTER', 'LAST ASKED', 'LAST ACCEPTED'],
      clusters.map(({ name, lastAsked = 'never', lastAccepted = 'never' }) => [name, lastAsked, lastAccepted]),
    ),
  ].join('\n')
}

/** Returns what a reader must know about the record. */
function sentencesOf(key: UsedKey['key'], usage: KeyUsage): string[] {
  const { recording, since, complete, lines = [], clusters = [] } = usage
  const isRecording = recording !== false
  return [
    ...(isRecording
      ? []
      : ['This deployment does not record usage: these entries are old, and newer requests are missing.']),
    ...(isRecording && since === undefined ? ['It is not known yet since when usage is recorded.'] : []),
    ...(isRecording && complete === false
      ? ['The record is incomplete: the key did more than is here, so no line counts as unused.']
      : []),
    ...(requestsIn(usage).done.length === 0 ? [noRequestsWords(key, usage)] : []),
    ...(clusters.some(({ lastAsked }) => lastAsked === undefined)
      ? ['The use of keys in a cluster that never asked is unknown.']
      : []),
    ...(lines.length === 0 ? ['No line of a scope limits the key.'] : []),
  ]
}
