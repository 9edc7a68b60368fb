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

/**
 * Returns what is wrong with the time of a part, in one sentence each. On a machine that computes more slowly than that of the
 * table, the limits are so much higher.
 */
export function excesses(name: string, took: Time, times: Times, slowness = 1): string[] {
  const usual = times.get(name)
  if (usual === undefined) return [`.ci/times has no line for ${name}`]
  const machine = slowness > 1 ? ` on a machine ${slowness.toFixed(1)} times as slow` : ''
  const over = (value: number, limit: number | undefined, factor: number, unit: string): string[] =>
    limit !== undefined && value > factor * slowness * limit && value > limit + LEEWAY
      ? [`${name} took ${value.toFixed(0)} ${unit}${machine}, more than ${factor} times the ${limit} of .ci/times`]
      : []
  return [
    ...over(took.cpu, usual.cpu, CPU_FACTOR, 'CPU seconds'),
    ...over(took.seconds, usual.seconds, SECONDS_FACTOR, 'seconds'),
  ]
}
