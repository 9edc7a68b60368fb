/** Reads .ci/times, and compares parts with it. Its head says what the figures are. */
import { readFileSync } from 'node:fs'

export interface Time {
  /** Elapsed seconds. */
  seconds: number
  /** CPU seconds of the process tree. */
  cpu: number
}

/** The factor from which on a part has become too slow: that of a change, not of a machine. */
export const CPU_FACTOR = 2
/** Elapsed time depends mostly on what else runs, here and on the host of a virtual machine. */
export const SECONDS_FACTOR = 6
/** Seconds beyond which a difference counts, because short parts vary more. */
const LEEWAY = 10

/** A part without a line in the table, or with a figure `-`, which varies with the network or what is cached, has no such limit. */
export type Times = ReadonlyMap<string, Partial<Time>>

/** Parses lines of `SECONDS CPU NAME`. Throws at a line of another form. */
export function parseTimes(text: string): Times {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, seconds = '', cpu = '', name = ''] = /^ *(\d+|-) +(\d+|-) +(\S.*)$/.exec(line) ?? []
      if (name === '') throw new Error(`not SECONDS CPU NAME: ${line}`)
      return [name, { ...(seconds !== '-' && { seconds: Number(seconds) }), ...(cpu !== '-' && { cpu: Number(cpu) }) }]
    }),
  )
}

export const readTimes = (): Times => parseTimes(readFileSync(new URL('times', import.meta.url), 'utf8'))

/** How many times as slow as that of the table a machine is: in elapsed time, and in CPU time. */
export const AS_USUAL: Time = { seconds: 1, cpu: 1 }

/**
 * Returns what is wrong with the time of a part, in one sentence each. On a machine that is slower than that of the table, the limits
 * are so much higher.
 */
export function excesses(name: string, took: Time, times: Times, slowness = AS_USUAL): string[] {
  const usual = times.get(name)
  if (usual === undefined) return [`.ci/times has no line for ${name}`]
  const over = (of: keyof Time, factor: number, unit: string): string[] => {
    const [value, limit, slower] = [took[of], usual[of], slowness[of]]
    if (limit === undefined || value <= factor * slower * limit || value <= limit + LEEWAY) return []
    const machine = slower > 1 ? ` on a machine ${slower.toFixed(1)} times as slow` : ''
    return [`${name} took ${value.toFixed(0)} ${unit}${machine}, more than ${factor} times the ${limit} of .ci/times`]
  }
  return [...over('cpu', CPU_FACTOR, 'CPU seconds'), ...over('seconds', SECONDS_FACTOR, 'seconds')]
}
