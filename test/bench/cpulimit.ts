/**
 * Limits the CPU time of a process as Lambda does after initialization: in each period of 100 ms it may use its share, and it
 * stands still for the rest. The kernel's quota (cpu.max of a cgroup) works like this, but needs rights that CI does not
 * give, so this one reads the CPU time of the process and stops it with signals. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs'

const periodMs = 100
const lookEveryMs = 1

/** Returns the CPU milliseconds of the running threads of a process. Source: proc_pid_schedstat(5), the first field. */
function cpuOf(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1))
    } catch {
      // The thread has ended since.
    }
  }
  return nanoseconds / 1e6
}

/** Limits a process to a share of one CPU until the returned function is called. A whole CPU or more is no limit. */
export function limitCpu(pid: number, share: number): () => void {
  if (share >= 1) return () => undefined
  let allowed = cpuOf(pid) + share * periodMs
  let period = performance.now()
  let isStopped = false
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    isStopped = name === 'SIGSTOP'
    process.kill(pid, name)
  }
  const timer = setInterval(() => {
    const now = performance.now()
    const used = cpuOf(pid)
    for (; now - period >= periodMs; period += periodMs) {
      // Time that was not used is lost, and time that was used too much counts in the next period.
      allowed = Math.min(allowed, used) + share * periodMs
    }
    if (used >= allowed && !isStopped) signal('SIGSTOP')
    else if (used < allowed && isStopped) signal('SIGCONT')
  }, lookEveryMs)
  return () => {
    clearInterval(timer)
    if (isStopped) signal('SIGCONT')
  }
}
