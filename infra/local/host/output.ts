/** Keeps the server running when its output is a file on a full disk: lines are missing there until there is room. */
import { hasNoRoom } from './fileproblem.ts'

/** Call this before the first output. Any other error of the output ends the process as usual, unless the server `isEnding`. */
export function surviveFullDisk(isEnding: () => boolean): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (!hasNoRoom(error) && !isEnding()) throw error
    })
}
