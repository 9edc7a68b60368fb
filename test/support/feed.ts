/** Writes the input of a program that a test starts. */
import type { ChildProcess } from 'node:child_process'

/** Writes the whole input. A program may end before it has read it: what it prints and its exit code say why. */
export function feed({ stdin }: Pick<ChildProcess, 'stdin'>, input: string): void {
  stdin?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  stdin?.end(input)
}
