/** Shows a page of the console: in the browser of a person who is at a terminal, and for everybody its address. */
import { consoleUrl } from '../../../core/src/documentation.ts'
import type { Io } from '../io/io.ts'
import { plain } from './plain.ts'

/** The option of all commands that show an object. */
export const webOption = {
  web: { type: 'boolean', help: 'open its page of the console, or print the address without a terminal' },
} as const

/** Prints the address of a page, whose parts are `keys` and the name of a key, and opens it in a terminal. */
export function showPage(io: Io, server: string, parts: readonly string[]): void {
  const url = consoleUrl(server, parts)
  io.out(`${plain(url)}\n`)
  if (io.isTerminal.out && io.isTerminal.err) io.openBrowser(url)
}
