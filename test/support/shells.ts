/** Pastes commands into interactive shells without personal settings. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { feed } from './feed.ts'
import { watchArguments } from './processarguments.ts'

export interface Shell {
  name: string
  args: readonly string[]
  /** Reports every failing command as `failed STATUS`. */
  trap: string
}

const known: readonly Shell[] = [
  { name: 'bash', args: ['--norc', '--noprofile', '-i'], trap: `trap 'echo "failed $?" >&2' ERR` },
  { name: 'zsh', args: ['-f', '-i'], trap: 'TRAPZERR() { echo "failed $?" >&2 }' },
]

/** The shells that this machine has. */
export const shells: readonly Shell[] = known.filter(({ name }) => spawnSync(name, ['-c', 'exit']).status === 0)

export interface Pasted {
  stdout: string
  /** Lines of standard error with complaints of the shell or failed commands. */
  complaints: string[]
  stderr: string
}

/** Types lines into the shell one by one and returns the output. Rejects if they show a secret in the arguments of a process. */
export async function paste(
  { name, args, trap }: Shell,
  lines: string,
  { cwd, env }: { cwd: string; env: Record<string, string | undefined> },
): Promise<Pasted> {
  const watched = watchArguments(lines, env)
  const child = spawn(name, args, { cwd, env: { ...watched.env, PS1: '', PS2: '' } })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      said[stream] += chunk
    })
  }
  feed(child, `${trap}\n${lines}\n`)
  await once(child, 'close')
  watched.demandNoSecrets()
  const complaint = new RegExp(`(?:\\b${name}: .*|failed \\d+)$`, 'gm')
  const complaints = (said.stderr.match(complaint) ?? []).filter((line) => !noTerminal.test(line))
  return { ...said, complaints }
}

/** The first message of bash when its input is not a terminal. */
const noTerminal = /no job control in this shell|cannot set terminal process group/
