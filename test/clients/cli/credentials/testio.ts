/** An Io for tests of modules, which keeps what they say. */
import type { Io } from '../../../../clients/cli/src/io/io.ts'

/** Returns an Io with no terminal and no input. */
export function testIo(parts: Partial<Io>): { io: Io; said: { out: string; err: string } } {
  const said = { out: '', err: '' }
  const io: Io = {
    env: {},
    now: () => new Date(),
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
    signal: new AbortController().signal,
    ...parts,
  }
  return { io, said }
}
