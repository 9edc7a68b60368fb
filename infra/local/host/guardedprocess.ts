/** Runs child processes that never outlive this one, not even when it is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface GuardedProcess {
  /** ID of the process group. */
  pid: number
  /** Resolves, with the line of error output that gives the reason, when the process has exited for any reason. */
  ended: Promise<string>
  /** Resolves to true once the error output contains `words`, and to false when the process exits before. */
  says(words: string): Promise<boolean>
  /** Sends SIGTERM, after two seconds SIGKILL, and resolves when the process has exited. */
  stop(): Promise<void>
}

/**
 * A shell between the two waits for the end of its input. The input ends when this process closes it, and also when this
 * process is killed, which no handler could notice. The shell also makes new files private (umask).
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

/** Starts the process in its own process group: Ctrl-C must reach only the server, which needs its parts while it stops. */
export function startGuardedProcess(binary: string, args: readonly string[]): GuardedProcess {
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', binary, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  let said = ''
  const listeners = new Set<() => void>()
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-MAX_SAID)
    for (const listener of listeners) listener()
  })
  const ended = Promise.race([once(child, 'close'), once(child, 'error')]).then(() => reasonIn(said))
  return {
    pid: child.pid ?? 0,
    ended,
    says: (words) =>
      new Promise((resolve) => {
        const listener = () => {
          if (!said.includes(words)) return
          listeners.delete(listener)
          resolve(true)
        }
        listeners.add(listener)
        ended.then(() => resolve(false))
      }),
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}

/** Characters of error output that are kept; the end contains the reason of an exit. */
const MAX_SAID = 8192

/** Returns the line of error output that gives the reason of an exit. */
function reasonIn(said: string): string {
  const lines = said.trim().split('\n')
  return lines.findLast((line) => /error|fatal|panic|not found/i.test(line)) ?? lines.at(-1) ?? ''
}
