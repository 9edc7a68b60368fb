/** The program: runs the command that its arguments name, and ends with an exit code. */
import { basename } from 'node:path'
import { helpPage } from './arguments/help.ts'
import { parseCall } from './arguments/parse.ts'
import { commands, sections } from './commands/index.ts'
import { CliError } from './io/errors.ts'
import type { Io } from './io/io.ts'
import { processIo } from './io/process.ts'
import { version } from './io/version.ts'
import { reportError } from './output/messages.ts'

/** kubectl runs a plugin by the name of its file. */
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-keyplane')

async function run(args: readonly string[], io: Io): Promise<number> {
  const call = parseCall(commands, args)
  if (call.kind === 'version') {
    io.out(`${version}\n`)
    return 0
  }
  if (call.kind === 'help') {
    const page = helpPage(sections, call.words, {
      call: isPlugin ? 'kubectl keyplane' : 'keyplane',
      columns: io.columns,
    })
    if (call.asked) io.out(page)
    else io.err(page)
    return call.asked ? 0 : 2
  }
  await call.command.run(call.input, io)
  return 0
}

const { io, interrupted } = processIo()
process.exitCode = await run(process.argv.slice(2), io).catch((error: unknown) => {
  if (io.signal.aborted) return interrupted()
  const known =
    error instanceof CliError ? error : new CliError(`keyplane has a defect: ${(error as Error).stack ?? error}`)
  reportError(io, known)
  return known.exitCode
})
