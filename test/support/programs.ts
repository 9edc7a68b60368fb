/** Runs programs, for tests of the commands of a page. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchArguments } from './processarguments.ts'

/** What a program said, and how it ended. */
export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program to its end. Rejects if it cannot be started, and if a snippet of a shell shows a secret in the arguments of a process. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
): Promise<Ran> {
  const watched = args.includes('-c') ? watchArguments(args.join(' '), options.env) : undefined
  const child = spawn(command, args, {
    ...options,
    ...(watched && { env: watched.env }),
    // With a socket as its input, a shell would read the personal settings of the user.
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ran = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      ran[stream] += chunk
    })
  const [code] = await once(child, 'close')
  watched?.demandNoSecrets()
  return { ...ran, code }
}
