/** Runs a program in a terminal of its own, as a person does. It needs Python 3. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'vitest'

/** Copies between this process and a program in a pseudo-terminal of 100 columns, and ends with the exit code of the program. */
const PTY = `
import fcntl, os, pty, select, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
sources = [master, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        data = os.read(0, 65536)
        if data: os.write(master, data)
        else: sources.remove(0)
    if master in ready:
        try: data = os.read(master, 65536)
        except OSError: break
        if not data: break
        os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

const hasPython = spawnSync('python3', ['--version']).status === 0

/** Defines a suite that needs a terminal. */
export function describeTerminal(name: string, suite: () => void): void {
  if (!hasPython) process.stderr.write(`not run, no python3 on PATH: ${name}\n`)
  describe.skipIf(!hasPython)(name, suite)
}

export interface Typed {
  code: number | null
  /** All that the terminal showed, with line breaks as \n. */
  shown: string
}

/** Runs a program. Each step waits for a pattern in what is shown since the step before, and types a text. */
export async function inTerminal(
  command: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  steps: readonly (readonly [RegExp, string])[] = [],
): Promise<Typed> {
  const child = spawn('python3', ['-c', PTY, ...command], options)
  let shown = ''
  let seen = 0
  const left = [...steps]
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
    const [next] = left
    if (next?.[0].test(shown.slice(seen))) {
      seen = shown.length
      left.shift()
      child.stdin.write(next[1])
    }
  })
  child.stderr.pipe(process.stderr)
  const [code] = await once(child, 'close')
  return { code, shown: shown.replaceAll('\r\n', '\n') }
}
