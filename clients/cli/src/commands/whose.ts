/** `keyplane whose`: says to whom the value of an access key belongs. */
import type { KeyLookup } from '../../../core/src/objects.ts'
import { ANYWAY, judgeFoundValue, ODD } from '../../../core/src/words/foundvalue.ts'
import { keyPath } from '../api/keys.ts'
import { wholeKeyIn } from '../api/keytext.ts'
import { AFTER_REPORT, reportKeys } from '../api/leaks.ts'
import { API, openSession, type Session } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { agreed, canAsk, demandTerminal, yesOption } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plain } from '../output/plain.ts'
import { printAs } from '../output/print.ts'
import { facts } from '../output/table.ts'

export const whose = command({
  name: ['whose'],
  summary: 'Find out which access key has a value that you have found',
  description:
    'It reads the value from standard input; in a terminal it is asked for and not shown. The value never belongs on the command line, where other users see it. A secret of another service is not sent, and a text that does not look like a key only after a question or with --yes. Only keys that you may read are found, also by a value that has ended. Looking a value up is not a use of it, and ends nothing, unless you report or disable it. The exit code is 1 if no such key is found.',
  options: {
    'report-leak': { type: 'boolean', help: 'report the value as leaked, whoever owns it: it ends immediately' },
    url: { type: 'string', value: 'URL', help: 'where it was found, for the owner of the key; it needs --report-leak' },
    disable: { type: 'boolean', help: 'disable the key, until it is enabled again, after a question' },
    yes: { ...yesOption.yes, help: 'do not ask: send a text that does not look like a key, and disable the key' },
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Ask about a value, which is typed or pasted', run: 'keyplane whose' },
    { does: 'Print the name of the key whose value is in a file', run: 'keyplane whose -o name < found' },
    { does: 'End a leaked value', run: 'keyplane whose --report-leak --url https://example.com/paste < found' },
  ],
  async run({ values: { context, output, url, disable, yes, ...values } }, io) {
    const isReport = values['report-leak']
    if (url !== undefined && !isReport) throw new UsageError('--url needs --report-leak.')
    if (disable && !yes) demandTerminal(io)
    const key = wholeKeyIn(
      await read(io),
      io.isTerminal.in ? 'in your input' : 'on standard input',
      'Give it on standard input: keyplane whose < FILE',
    )
    if (url?.includes(key)) throw new UsageError('The --url contains the value. Leave that out.')
    if (!(await maySend(key, io, yes))) return
    const session = await openSession(io, { context })
    const lookup = await session.post(`${API}/accesskeylookups`, { spec: { key } }, { repeatable: true })
    const status = (lookup.status ?? {}) as KeyLookup
    const isFound = status.name !== undefined
    if (output === 'name') io.out(isFound ? `${plain(status.name ?? '')}\n` : '')
    else if (output !== undefined) await printAs(output, lookup, io)
    else if (isFound) io.out(facts(factsOf(status)))
    if (!isFound) note(io, 'No access key that you may read has this value.')
    if (disable && isFound) await disableFound(session, status, io, yes)
    if (isReport) {
      const { server, certificateAuthority } = session
      await reportKeys(io, { server, certificateAuthority }, [key], url)
      note(io, `Reported to ${server}. ${AFTER_REPORT}`)
    }
    return isFound ? 0 : 1
  },
})

/** Reports whether the value may be sent. Throws a UsageError if nobody can be asked. No message has any of it. */
async function maySend(key: string, io: Io, isSure: boolean): Promise<boolean> {
  const judged = judgeFoundValue(key)
  if (judged.kind === 'refused') throw new UsageError(`${judged.why} It was not sent.`)
  if (judged.kind === 'own' || isSure) return true
  if (!canAsk(io)) throw new UsageError(`${ODD} It was not sent.`, 'To send it anyway, repeat the command with --yes.')
  return agreed(io, `${ODD} ${ANYWAY}`)
}

async function disableFound(session: Session, { name = '', uid }: KeyLookup, io: Io, isSure: boolean): Promise<void> {
  const body = { metadata: { ...(uid !== undefined && { uid }) }, spec: { disabled: true } }
  const disable = (dryRun: boolean) => session.patch(keyPath(name), body, { dryRun, repeatable: true })
  if (!isSure) {
    await disable(true)
    if (!(await agreed(io, `Disable ${name}?`))) return
  }
  await disable(false)
  note(io, `${name} is disabled.`)
}

const read = async (io: Io): Promise<string> =>
  io.isTerminal.in ? ((await io.readHidden('Value of an access key (it is not shown): ')) ?? '') : io.readStdin()

const factsOf = ({ name, owner, phase }: KeyLookup): [string, string | undefined][] => [
  ['Key', name],
  ['Owner', owner],
  ['State', phase === 'Ended' ? 'the key does not have this value any more' : (phase?.toLowerCase() ?? '')],
]
