/** Measures the CPU time of processes and their descendants. */
import { readdir, readFile } from 'node:fs/promises'

/** Returns the options of Node.js that write a CPU profile into a folder. */
export const profiling = (folder: string | undefined): string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]

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

/** Returns the CPU time of running processes and their running descendants so far. Linux only. */
async function cpuOf(roots: readonly number[]): Promise<CpuTime> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = new Map<number, ProcessTimes>()
  await Promise.all(
    pids.map(async (one) => {
      const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => undefined)
      if (stat !== undefined) all.set(one, timesOf(stat))
    }),
  )
  const isBelow = (one: number): boolean => roots.includes(one) || (one > 1 && isBelow(all.get(one)?.parent ?? 0))
  const below = [...all].filter(([one]) => isBelow(one)).map(([, times]) => times)
  const sum = (of: readonly ProcessTimes[]): number => of.reduce((total, { milliseconds }) => total + milliseconds, 0)
  return { total: sum(below), store: sum(below.filter(({ name }) => stores.has(name))) }
}

/** Returns the CPU time during the work. */
export async function cpuDuring(roots: readonly number[], work: () => Promise<unknown>): Promise<CpuTime> {
  const before = await cpuOf(roots)
  await work()
  const after = await cpuOf(roots)
  return { total: after.total - before.total, store: after.store - before.store }
}
