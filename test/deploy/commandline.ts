/** Runs the AWS command line, which one process has loaded for all calls: aws.py says how. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { compiling, installed } from './emulator.ts'

export interface CommandLine {
  /** Defines `aws` in a shell. Commands that put another function in its place call `original`. */
  definition: string
  stop(): Promise<void>
}

/** Starts the process, with its socket in the folder. */
export async function startCommandLine(folder: string): Promise<CommandLine> {
  const python = join(await installed('aws'), 'python')
  const script = join(import.meta.dirname, 'aws.py')
  const socket = join(folder, 'aws.sock')
  const child = spawn(python, [script, socket, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...compiling },
  })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('aws.py has ended')))])
  return {
    // This version of the command line ignores the endpoint in its environment for queues.
    definition: `original() { '${python}' -ISs '${script}' '${socket}' call --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }
aws() { original "$@"; }
`,
    async stop() {
      child.kill()
      await ended
    },
  }
}
