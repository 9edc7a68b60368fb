/** Starts servers in separate processes and measures the CPU time of these processes and their descendants. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Served {
  /** Root of the API, before `/apis/…`. */
  base: string
  certificateAuthority: string
  token: string
}

export interface ServerProcess extends Served {
  pid: number
  stop(): Promise<void>
}

/** Returns the options of Node.js that write a CPU profile into a folder. */
export const profiling = (folder: string | undefined): string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]

/** Starts a program of this folder, which sends its address and exits when its parent disconnects. */
export async function serverProcess(program: string, profile?: string): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, program), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--conditions=embedded', ...profiling(profile)],
  })
  const served = await Promise.race([once(child, 'message'), rejectOnExit(child)])
  return {
    ...(served[0] as Served),
    pid: child.pid ?? 0,
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function rejectOnExit(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the server ended with ${code}`)
}

/** Clock ticks per second in /proc. USER_HZ is 100 on every architecture on which Node.js supports Linux. */
const ticksPerSecond = 100

interface ProcessTimes {
  name: string
  parent: number
  milliseconds: number
}

/** Parses /proc/PID/stat. Source: proc(5). The name in parentheses may contain anything; ppid is field 4, utime and stime 14 and 15. */
function timesOf(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  return { name, parent: Number(fields[1]), milliseconds: (ticks * 1000) / ticksPerSecond }
}

export interface CpuTime {
  /** Milliseconds, user and system. */
  total: number
  /** The share of databases. */
  store: number
}

/** The names of database processes in /proc. */
const stores: ReadonlySet<string> = new Set(['dynoxide', 'etcd'])

/** Returns the CPU time of a running process and its running descendants so far. Linux only. */
async function cpuOf(pid: number): Promise<CpuTime> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = new Map<number, ProcessTimes>()
  await Promise.all(
    pids.map(async (one) => {
      const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => undefined)
      if (stat !== undefined) all.set(one, timesOf(stat))
    }),
  )
  const isBelow = (one: number): boolean => one === pid || (one > 1 && isBelow(all.get(one)?.parent ?? 0))
  const below = [...all].filter(([one]) => isBelow(one)).map(([, times]) => times)
  const sum = (of: readonly ProcessTimes[]): number => of.reduce((total, { milliseconds }) => total + milliseconds, 0)
  return { total: sum(below), store: sum(below.filter(({ name }) => stores.has(name))) }
}

/** Returns the CPU time during the work. */
export async function cpuDuring(pid: number, work: () => Promise<unknown>): Promise<CpuTime> {
  const before = await cpuOf(pid)
  await work()
  const after = await cpuOf(pid)
  return { total: after.total - before.total, store: after.store - before.store }
}
