/** Child processes that never outlive this one, not even when it is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface GuardedProcess {
  /** Of the process group. */
  pid: number
  /** Resolves when the process has ended, whoever ended it. */
  ended: Promise<void>
  /** undefined once a line of its error output contains `words`; else the first line it said before it ended. */
  says(words: string): Promise<string | undefined>
  /** Resolves when it has ended: by SIGTERM, after two seconds by SIGKILL. */
  stop(): Promise<void>
}

/**
 * A shell stands between the two, waiting for the end of its input: that comes when this process closes it and also when
 * this process is killed, which no handler of its own could notice. It also keeps files from others (umask).
 */
const GUARD = `
umask 077
exec 3<&0
"$@" </dev/null 3<&- & child=$!
{ read -r _ <&3; kill -TERM $child; sleep 2; kill -KILL $child; } 2>/dev/null & watcher=$!
exec 3<&-
wait $child; status=$?
kill $watcher 2>/dev/null
exit $status
`

/** In a process group of its own: Ctrl-C is for the server, which still needs its parts while it stops. */
export function startGuarded(binary: string, args: readonly string[]): GuardedProcess {
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', binary, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'exit').then(() => undefined)
  return {
    pid: child.pid ?? 0,
    ended,
    says: (words) => listen(child, words),
    async stop() {
      child.stdin?.end()
      await ended
    },
  }
}

function listen(child: ChildProcess, words: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (said.includes(words)) {
        child.stderr?.removeAllListeners('data').resume()
        resolve(undefined)
      }
    })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', () => resolve(said.trim().split('\n')[0] || 'it ended without a word.'))
  })
}
