/** `keyplane rotate`: gives an access key a new value while the old one works. */
import { duration } from '../../../core/src/durations.ts'
import { demandName } from '../api/keys.ts'
import { openSession } from '../api/session.ts'
import { command } from '../arguments/command.ts'
import { seconds } from '../arguments/durations.ts'
import { locked } from '../config/lock.ts'
import { outputFile } from '../config/outputfile.ts'
import { NO_STATE } from '../config/paths.ts'
import { UsageError } from '../io/errors.ts'
import { demandProgram } from '../io/program.ts'
import { note } from '../output/messages.ts'
import { printAs, printCredential } from '../output/print.ts'
import { abortRotation, finishRotation } from '../rotation/finish.ts'
import { rotate as rotateKey } from '../rotation/rotate.ts'
import { continuation } from '../rotation/run.ts'
import { unfinishedFile } from '../rotation/unfinished.ts'

/** A job stores a value within half an hour, because others may replace a pending value that is an hour old. */
const LONGEST_TIMEOUT_SECONDS = 1800
const LONGEST_OVERLAP_SECONDS = 2_592_000
/** Longer than any run takes. */
const STALE_MILLISECONDS = 3600_000

export const rotate = command({
  name: ['rotate'],
  summary: 'Give an access key a new value while the old one works',
  description: [
    'The command after -- gets the new value on its standard input and stores it. Then the new value is used once, and the old one ends after the overlap. If the command fails, or this program is killed at any moment, the old value keeps working. Repeat the same command to continue with the same new value.',
    'If the key is that of the current context, the context gets the new value too. For any other key without a command, the new value is printed, and the old one works until the new one is used.',
    'Everything that the command prints goes to standard error. The new value and the value that this program uses are removed from it, even in base64. The command does not get KEYPLANE_KEY or any other variable with one of these values.',
  ].join('\n\n'),
  positionals: [{ name: 'NAME', help: 'name of the access key', names: 'keys' }],
  rest: {
    name: 'COMMAND…',
    help: 'program and arguments that store the new value; run without a shell',
    optional: true,
  },
  options: {
    overlap: {
      type: 'string',
      value: 'DURATION',
      help: 'how long the old value works after the first use of the new one',
      default: '1h',
    },
    timeout: {
      type: 'string',
      value: 'DURATION',
      help: 'how long the command may take, at most 30m; programs that it leaves in the background continue',
      default: '10m',
    },
    replace: {
      type: 'boolean',
      help: 'end the new value of another run that was never used. Only if no other run is storing it',
    },
    'key-file': {
      type: 'string',
      value: 'FILE',
      help: 'in place of a command, put the new value into this file, readable only by you',
    },
    finish: { type: 'boolean', help: 'only end the old value now, instead of after the overlap' },
    abort: { type: 'boolean', help: 'only end a new value that was never used' },
  },
  formats: ['json', 'yaml'],
  examples: [
    {
      does: 'Rotate the key of a repository, and store the new value as its secret',
      run: 'keyplane rotate ci -- gh secret set KEYPLANE_KEY --repo octo-org/shop',
    },
    {
      does: 'Store it in AWS Secrets Manager, with an overlap of a day',
      run: 'keyplane rotate ci --overlap 1d -- aws secretsmanager put-secret-value --secret-id ci --secret-string file:///dev/stdin',
    },
    { does: 'Put it into the file of a program', run: 'keyplane rotate ci --key-file ci.key' },
    { does: 'Rotate your own key in the current context', run: 'keyplane rotate NAME' },
    { does: 'End the old value at once, when every client has the new one', run: 'keyplane rotate ci --finish' },
  ],
  async run({ values, positionals: [name = ''], rest }, io) {
    demandName(name)
    const { overlap, timeout = '10m', replace, finish, abort, context, output } = values
    const overlapSeconds = within(overlap ?? '1h', '--overlap', LONGEST_OVERLAP_SECONDS)
    const timeoutSeconds = within(timeout, '--timeout', LONGEST_TIMEOUT_SECONDS)
    const keyFile = values['key-file']
    if (keyFile !== undefined && rest) throw new UsageError('--key-file excludes a command: both store the new value.')
    const store = keyFile === undefined ? rest : storeIn(await outputFile(keyFile))
    if (finish || abort) demandAlone(values, store)
    if (rest) await demandProgram(rest, io.env)
    const session = await openSession(io, { context })
    const file = unfinishedFile(io, session.server, name)
    await locked(`${file}.lock`, { ...io, staleMilliseconds: STALE_MILLISECONDS, wayOut: NO_STATE }, async () => {
      const target = { io, session, name, file }
      if (finish || abort) return note(io, await (finish ? finishRotation : abortRotation)(target))
      const rotated = await rotateKey({ ...target, overlapSeconds, timeoutSeconds, replace, command: store })
      const { value, requestedAt, message } = rotated
      note(io, message)
      if (output !== undefined) {
        const status = { ...(value !== undefined && { key: value }), requestedAt }
        await printAs(
          output,
          { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKeyRotation', metadata: { name }, status },
          io,
          value && continuation(name),
        )
      } else if (value !== undefined) printCredential(value, io, continuation(name))
      // If the reader of standard output is gone, this process ends here, and the value is kept.
      await new Promise((resolve) => setImmediate(resolve))
      await rotated.finish()
    })
  },
})

/** Replaces a file with standard input, by rename, so that its readers see the old value or the new one. */
const REPLACE = `const fs = require('fs'); const [, file] = process.argv; const next = file + '.' + process.pid + '.tmp'
fs.writeFileSync(next, fs.readFileSync(0), { mode: 0o600, flag: 'wx' }); fs.renameSync(next, file)`

/** Returns the command that stores a value in a file: a rotation that is killed goes on after one as after any other. */
const storeIn = (file: string): string[] => [process.execPath, '-e', REPLACE, file]

function within(text: string, option: string, most: number): number {
  const given = seconds(text, option)
  if (given > most) throw new UsageError(`${option} may be at most ${duration(most)}, not "${text}".`)
  return given
}

function demandAlone(
  values: {
    finish: boolean
    abort: boolean
    replace: boolean
    overlap?: string | undefined
    timeout?: string | undefined
    output?: string | undefined
  },
  rest: readonly string[] | undefined,
): void {
  const { finish, abort, replace, overlap, timeout, output } = values
  if ((finish && abort) || replace || (overlap ?? timeout ?? output ?? rest) !== undefined) {
    throw new UsageError(`${finish ? '--finish' : '--abort'} cannot be combined with other options or a command.`)
  }
}
