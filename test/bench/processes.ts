/** Servers in processes of their own, and the CPU time that those and all their children have used. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Served {
  /** Root of the API: `/apis/…` follows. */
  base: string
  certificateAuthority: string
  token: string
}

export interface ServerProcess extends Served {
  pid: number
  stop(): Promise<void>
}

/** Starts a program of this folder that sends what it serves, and ends when nobody listens any more. */
export async function serverProcess(program: string, profile?: string): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, program), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  })
  const served = await Promise.race([once(child, 'message'), failed(child)])
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

async function failed(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the server ended with ${code}`)
}

/** Clock ticks per second of /proc: USER_HZ is 100 on every architecture that Linux runs Node.js on. */
const ticksPerSecond = 100

interface ProcessTimes {
  name: string
  parent: number
  milliseconds: number
}

/** proc(5): the name in parentheses may hold anything; ppid is the 4th field, utime and stime the 14th and 15th. */
function timesOf(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
  return { name, parent: Number(fields[1]), milliseconds: (ticks * 1000) / ticksPerSecond }
}

export interface CpuTime {
  /** Milliseconds, user and system. */
  total: number
  /** The part of databases. */
  store: number
}

/** The databases below the servers, as /proc names them. */
const stores: ReadonlySet<string> = new Set(['dynoxide', 'etcd'])

/** CPU time of a living process and of its living descendants so far. Linux only. */
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

/** Resident memory in MB of a living process and of its living descendants, by their names. Linux only. */
export async function memoryOf(pid: number): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const add = async (one: number): Promise<void> => {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '')
    const name = /^Name:\s+(.*)$/m.exec(status)?.[1]
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
    if (name !== undefined && kilobytes > 0) found.set(name, (found.get(name) ?? 0) + kilobytes / 1024)
    const children = await readFile(`/proc/${one}/task/${one}/children`, 'utf8').catch(() => '')
    await Promise.all(children.split(' ').filter(Boolean).map(Number).map(add))
  }
  await add(pid)
  return found
}

/** CPU time during the work. */
export async function cpuDuring(pid: number, work: () => Promise<unknown>): Promise<CpuTime> {
  const before = await cpuOf(pid)
  await work()
  const after = await cpuOf(pid)
  return { total: after.total - before.total, store: after.store - before.store }
}
