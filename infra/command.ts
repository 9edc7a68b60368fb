/** What the commands of package.json have in common: options, usage, how they end. */
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** A wrong call: the message and the usage are all that is said. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The options that are given. Throws a UsageError for whatever else is. */
export const optionsIn = <const O extends ParseArgsOptionsConfig>(args: readonly string[], options: O) =>
  parsed({ args: [...args], options }).values

/** The options that are given, and the words beside them. Throws a UsageError for other options. */
export const wordsIn = <const O extends ParseArgsOptionsConfig>(args: readonly string[], options: O) =>
  parsed({ args: [...args], options, allowPositionals: true })

function parsed<const C extends ParseArgsConfig>(config: C) {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Runs the work of a command; a UsageError is printed with the usage and ends with 2, any other error with 1. */
export async function command(usage: string, work: (args: string[]) => Promise<void>): Promise<void> {
  try {
    await work(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? usage : ''}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
