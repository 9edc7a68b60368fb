/** Is the program: runs a command in this process. */
import { processIo } from './io/process.ts'
import { runProgram } from './program.ts'

const { io, interrupted } = processIo()
process.exitCode = await runProgram(process.argv.slice(2), io).catch((error: unknown) => {
  if (io.signal.aborted) return interrupted()
  throw error
})
