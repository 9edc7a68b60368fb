/** Writes the output of the server, which goes on when the output is a file on a full disk: lines are missing there until there is room. */
import { hasNoRoom } from './fileproblem.ts'

/** Call this before the first output. Any other error of the output ends the process as usual, unless the server `isEnding`. */
export function surviveFullDisk(isEnding: () => boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (!hasNoRoom(error) && !isEnding()) throw error
    })
}

/** Returns a function that writes the lines of one turn of the event loop together: each write takes as much CPU as a small request. */
export function inTurns(write: (lines: string) => void): (line: string) => void {
  let lines = ''
  const flush = () => {
    const all = lines
    lines = ''
    if (all !== '') write(all)
  }
  process.once('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    lines += line
  }
}
