/** Keeps the JSON lines that the functions log in a file, where the output of the server has short lines for people. */
import { openSync, renameSync, statSync, writeSync } from 'node:fs'
import { styleText } from 'node:util'
import { fileProblem, hasNoRoom } from './host/fileproblem.ts'
import { inTurns } from './host/output.ts'

/** Bytes from which on a start puts the file aside, as `log.1.jsonl`. */
const LARGE = 16 * 1024 * 1024

export interface FunctionLog {
  /** Appends all further lines to the file (mode 0600). Throws a StartupError when it cannot be opened. */
  keepIn(path: string): void
}

/** Takes the lines out of what is written to the screen. Errors stay there, in one line each. With `isShown` all lines stay as they are. */
export function divertFunctionLog(screen: NodeJS.WriteStream, isShown: boolean): FunctionLog {
  const { write } = screen
  let keep = (_: string): void => {}
  screen.write = ((chunk: string | Uint8Array, ...rest: never[]) => {
    if (typeof chunk !== 'string' || !/^\{"level":"(info|error)"/.test(chunk)) return write.call(screen, chunk, ...rest)
    keep(chunk)
    if (isShown) return write.call(screen, chunk, ...rest)
    const { level, message, error = '' } = JSON.parse(chunk) as { level: string; message: string; error?: string }
    if (level === 'error') write.call(screen, `${styleText('red', 'error', { stream: screen })} ${message}  ${error}\n`)
    return true
  }) as typeof write
  return {
    keepIn(path) {
      try {
        if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE)
          renameSync(path, path.replace(/\.jsonl$/, '.1.jsonl'))
        const file = openSync(path, 'a', 0o600)
        keep = inTurns((lines) => append(file, lines))
      } catch (error) {
        throw fileProblem(error, { path, what: 'file' }) ?? error
      }
    },
  }
}

/** On a full disk lines are missing, and requests go on. */
function append(file: number, lines: string): void {
  try {
    writeSync(file, lines)
  } catch (error) {
    if (!hasNoRoom(error)) throw error
  }
}
