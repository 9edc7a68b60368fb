/** An Io for tests of modules, which keeps what they say. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../../../../clients/cli/src/io/io.ts'

/**
 * Returns clocks that begin now and go on when somebody waits for them, so that nobody really does. `wait` is told how long, before
 * the wait is over.
 */
export function givenClock(wait: (milliseconds: number) => unknown = () => {}): Pick<Io, 'now' | 'elapsed' | 'pause'> {
  const start = Date.now()
  let passed = 0
  return {
    now: () => new Date(start + passed),
    elapsed: () => passed,
    async pause(milliseconds, signal) {
      await wait(milliseconds)
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      passed += milliseconds
    },
  }
}

/** Returns an Io with no terminal and no input. */
export function testIo(parts: Partial<Io>): { io: Io; said: { out: string; err: string } } {
  const said = { out: '', err: '' }
  const io: Io = {
    env: {},
    program: 'keyplane',
    parent: () => '1:1',
    shell: 'posix',
    now: () => new Date(),
    elapsed: () => performance.now(),
    pause: (milliseconds, signal) => sleep(milliseconds, undefined, { ...(signal && { signal }) }),
    out: (text) => {
      said.out += text
    },
    err: (text) => {
      said.err += text
    },
    isTerminal: { in: false, out: false, err: false },
    columns: 80,
    readStdin: async () => '',
    readLine: async () => undefined,
    readHidden: async () => undefined,
    startDetached: () => {},
    openBrowser: () => {},
    signal: new AbortController().signal,
    passSignals: () => () => {},
    ...parts,
  }
  return { io, said }
}
