/** Writes messages for people to standard error: notes, warnings and errors. Warnings and errors show no credential. */
import { withoutCredentials } from '../../../../lib/engine/meta/value/credentialtext.ts'
import type { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { inOptions } from './optionwords.ts'
import { plain, plainLines } from './plain.ts'

/** Writes one sentence. */
export const note = (io: Io, text: string): void => io.err(`${plainLines(text)}\n`)

/** Writes a warning of the server or of this program. */
export const warn = (io: Io, text: string): void =>
  io.err(`${coloured(io, 33, 'Warning:')} ${plain(withoutCredentials(inOptions(text)))}\n`)

/** Writes an error with what to do next. */
export function reportError(io: Io, { message, hint }: Pick<CliError, 'message' | 'hint'>): void {
  io.err(`${coloured(io, 31, 'Error:')} ${plainLines(withoutCredentials(inOptions(message)))}\n`)
  if (hint !== undefined) io.err(`${plainLines(hint)}\n`)
}

/** Returns the text in a colour of the terminal, unless standard error is none or `NO_COLOR` is set. */
function coloured(io: Io, colour: number, text: string): string {
  return io.isTerminal.err && !io.env.NO_COLOR && io.env.TERM !== 'dumb' ? `\u001b[${colour}m${text}\u001b[0m` : text
}
