/** `keyplane report-leak`: finds access keys in a text and has them ended. */
import { readFile } from 'node:fs/promises'
import { keysIn } from '../../../../lib/engine/meta/value/credentialformat.ts'
import { AFTER_REPORT, findServer, type KeylessServer, reportKeys } from '../api/leaks.ts'
import { command } from '../arguments/command.ts'
import { unreadable } from '../config/privatefile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { printAs } from '../output/print.ts'

/** The most keys of one report. */
const BATCH = 50
const LONGEST_LIST = 20

/** Returns the end of a key, from which its holder recognises it. */
const hintOf = (key: string): string => key.slice(-6)

export const reportLeak = command({
  name: ['report-leak'],
  summary: 'Find access keys in a file or a log, and revoke them immediately',
  description:
    'The command needs no login, only the URL of the server. It also finds keys in base64, such as in the data of a Secret. Valid keys of that server end immediately. The server ignores keys of other servers. The values are sent only to that server, and are not printed.',
  positionals: [{ name: 'FILE', help: 'file to search; - or nothing reads standard input', optional: true }],
  options: {
    server: { type: 'string', value: 'URL', help: 'URL of the API (default: that of the context)' },
    ca: { type: 'string', value: 'FILE', help: 'certificate authority of the server, in PEM' },
    url: { type: 'string', value: 'URL', help: 'where the keys were found, for the owners of the keys' },
    'dry-run': { type: 'boolean', help: 'only print what the file contains' },
  },
  formats: ['json', 'yaml'],
  examples: [
    {
      does: 'Report all keys in the log of a job',
      run: 'keyplane report-leak build.log --server https://keys.example.com/kubernetes/management',
    },
    { does: 'Report a key that you type or paste, then Ctrl-D', run: 'keyplane report-leak' },
  ],
  async run({ values, positionals: [file = '-'] }, io) {
    const { server, ca, url, context, output } = values
    const found = findKeys(await textOf(file, io))
    const where = file === '-' ? 'standard input' : file
    if (found.size === 0) {
      throw new CliError(`There is no access key in ${where}.`, {
        hint: 'An access key is mpk_ and 49 letters and digits, the last six of which are a checksum. A part of a key cannot be reported.',
      })
    }
    note(io, `${found.size === 1 ? 'One access key' : `${found.size} access keys`} in ${where}: ${listed(found)}.`)
    if (!values['dry-run']) await report(io, await findServer(io, { server, ca, context }), [...found.keys()], url)
    if (output === undefined) return
    const keys = [...found].map(([key, lines]) => ({ hint: hintOf(key), lines }))
    await printAs(output, { kind: 'LeakReport', reported: !values['dry-run'], keys }, io)
  },
})

async function textOf(file: string, io: Io): Promise<string> {
  if (file !== '-') {
    return readFile(file, 'latin1').catch((error: unknown) => {
      throw unreadable(file, error)
    })
  }
  if (io.isTerminal.in) note(io, 'Paste the text, then press Ctrl-D on a line of its own.')
  return io.readStdin()
}

/** Returns the lines of each key. Texts in UTF-16 have a zero byte after each character. */
function findKeys(text: string): Map<string, number[]> {
  const found = new Map<string, number[]>()
  const plain = text.replaceAll('\0', '')
  let line = 1
  let counted = 0
  for (const { key, at } of [...keysIn(plain), ...encodedKeysIn(plain)].sort((a, b) => a.at - b.at)) {
    for (; counted < at; counted++) if (plain[counted] === '\n') line++
    const lines = found.get(key) ?? []
    if (lines.at(-1) !== line) lines.push(line)
    found.set(key, lines)
  }
  return found
}

/** The shortest base64 of an access key: that of its 53 characters, without padding. */
const ENCODED = /[A-Za-z0-9+/]{71,}={0,2}/g

/** How often texts may be encoded: a kube config in the data of a Secret has base64 itself. */
const MOST_LAYERS = 3

/** Yields the keys in base64, such as in the data of a Secret, where their texts begin. */
function* encodedKeysIn(text: string, layer = 1): Generator<{ key: string; at: number }> {
  for (const { 0: encoded, index: at } of text.matchAll(ENCODED)) {
    const decoded = Buffer.from(encoded, 'base64').toString('latin1').replaceAll('\0', '')
    for (const { key } of keysIn(decoded)) yield { key, at }
    if (layer < MOST_LAYERS) for (const { key } of encodedKeysIn(decoded, layer + 1)) yield { key, at }
  }
}

function listed(found: ReadonlyMap<string, readonly number[]>): string {
  const shown = [...found].slice(0, LONGEST_LIST).map(([key, lines]) => {
    const first = lines.slice(0, 3).join(', ')
    return `…${hintOf(key)} (line ${first}${lines.length > 3 ? ', …' : ''})`
  })
  const more = found.size - shown.length
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

async function report(io: Io, target: KeylessServer, keys: readonly string[], url: string | undefined): Promise<void> {
  for (let at = 0; at < keys.length; at += BATCH) {
    await reportKeys(io, target, keys.slice(at, at + BATCH), url).catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error
      const done = at === 0 ? 'No key is reported.' : `${at} of ${keys.length} keys are reported.`
      const hint = `${done} Repeat the command: repetitions change nothing.`
      const hints = [error.hint, hint].filter(Boolean).join('\n')
      throw new CliError(error.message, { exitCode: error.exitCode, hint: hints, cause: error })
    })
  }
  note(io, `Reported to ${target.server}. ${AFTER_REPORT}`)
  note(
    io,
    'The owner of such a key gives it a new value (keyplane rotate NAME -- …), then enables it (keyplane keys enable NAME).',
  )
}
