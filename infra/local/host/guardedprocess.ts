/** Child processes that never outlive this one, not even when it is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface GuardedProcess {
  /** Of the process group. */
  pid: number
  /** Resolves when the process has ended, whoever ended it, with the line of its error output that says why. */
  ended: Promise<string>
  /** True once its error output contains `words`, false when it ended before. */
  says(words: string): Promise<boolean>
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

/** Characters of error output that are kept: the end of it says why a process ended. */
const MAX_SAID = 8192

/** The line of error output that says why a process ended. */
export function reasonIn(said: string): string {
  const lines = said.trim().split('\n')
  return lines.findLast((line) => /error|fatal|panic|not found/i.test(line)) ?? lines.at(-1) ?? ''
}
