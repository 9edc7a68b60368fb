/**
 * Follows how fast the machine computes while parts run. On a busy host of virtual machines the same program can take more than
 * twice its CPU seconds, because others use the caches and the second thread of its cores. That is no change of the code.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** CPU milliseconds of calculate.ts on the machine of .ci/times, while all parts run. */
const USUAL = 130
/** Milliseconds between calculations. */
const INTERVAL = 5000

export interface Pace {
  /** Returns how many times its usual CPU time the calculation has taken since then, on average; 1 if it was faster. */
  slownessSince(start: number): number
  stop(): Promise<void>
}

const run = promisify(execFile)

/** Returns the CPU milliseconds of one calculation. */
async function calculate(): Promise<number> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'calculate.ts')])
  return Number(stdout)
}

/** Calculates again and again until `stop`. A calculation that fails stops it, and rejects `stop`. */
export function followPace(cpuOf: () => Promise<number> = calculate, usual = USUAL, interval = INTERVAL): Pace {
  const samples: { at: number; cpu: number }[] = []
  const stopped = Promise.withResolvers<void>()
  let isStopped = false
  const pause = () => Promise.race([stopped.promise, new Promise((resolve) => setTimeout(resolve, interval).unref())])
  const follow = async () => {
    while (!isStopped) {
      const at = Date.now()
      samples.push({ at, cpu: await cpuOf() })
      await pause()
    }
  }
  const following = follow()
  following.catch(() => undefined)
  return {
    slownessSince(start) {
      // A part shorter than the interval is judged by the last calculation before it.
      const last = samples.findLastIndex(({ at }) => at < start)
      const during = samples.slice(Math.max(last, 0)).map(({ cpu }) => cpu)
      return Math.max(1, during.reduce((sum, cpu) => sum + cpu, 0) / during.length / usual || 1)
    },
    async stop() {
      isStopped = true
      stopped.resolve()
      await following
    },
  }
}
