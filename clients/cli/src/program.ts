/** Runs the command that the arguments name, with the streams, the clock and the signals that it is given. */
import { basename } from 'node:path'
import { helpPage } from './arguments/help.ts'
import { parseCall } from './arguments/parse.ts'
import { commands, sections } from './commands/index.ts'
import { COMPLETE, complete, completeNames } from './completion/complete.ts'
import { ASK } from './completion/names.ts'
import { CliError } from './io/errors.ts'
import { fileFailure } from './io/filefailure.ts'
import type { Io } from './io/io.ts'
import { version } from './io/version.ts'
import { reportError } from './output/messages.ts'

/** Returns the exit code. Reports errors on standard error. Rejects if a signal has ended the command. */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  try {
    return await run(args, io)
  } catch (error) {
    if (io.signal.aborted) throw error
    const known =
      error instanceof CliError
        ? error
        : (fileFailure(error) ?? new CliError(`keyplane has a defect: ${(error as Error).stack ?? error}`))
    reportError(io, { message: known.message, hint: known.hint ?? (await known.guess?.()) })
    return known.exitCode
  }
}

async function run(args: readonly string[], io: Io): Promise<number> {
  if (args[0] === COMPLETE) {
    await complete(sections, args.slice(1), io)
    return 0
  }
  if (args[0] === ASK) {
    await completeNames(args.slice(1), io)
    return 0
  }
  const call = parseCall(commands, args, io.shell)
  if (call.kind === 'version') {
    io.out(`${version}\n`)
    return 0
  }
  if (call.kind === 'help') {
    // kubectl runs a plugin by the name of its file.
    const isPlugin = basename(io.program).startsWith('kubectl-keyplane')
    const page = helpPage(sections, call.words, {
      call: isPlugin ? 'kubectl keyplane' : 'keyplane',
      columns: io.columns,
    })
    if (call.asked) io.out(page)
    else io.err(page)
    return call.asked ? 0 : 2
  }
  const code = await call.command.run(call.input, io)
  return typeof code === 'number' ? code : 0
}
