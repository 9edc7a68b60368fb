/**
 * Follows how fast the machine computes while parts run. On a busy host of virtual machines the same program can take more than
 * twice its CPU seconds, because others use the caches and the second thread of its cores. Where other programs use the cores of the
 * machine itself, it takes the same CPU seconds, but waits for a core. Neither is a change of the code.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Time } from './times.ts'

/**
 * What calculate.ts takes on the machine of .ci/times: its seconds while all parts run, and its CPU seconds alone. It is too short
 * for what runs beside it to slow it down as much as the parts.
 */
const USUAL: Time = { seconds: 0.5, cpu: 0.1 }
/** Milliseconds between calculations. */
const INTERVAL = 5000

export interface Pace {
  /** Returns how many times its usual time the calculation has taken since then, on average; 1 if it was faster. */
  slownessSince(start: number): Time
  stop(): Promise<void>
}

const run = promisify(execFile)

/** Measures one calculation. */
async function calculate(): Promise<Time> {
  const began = performance.now()
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'calculate.ts')])
  return { seconds: (performance.now() - began) / 1000, cpu: Number(stdout) / 1000 }
}

/** Calculates again and again until `stop`. A calculation that fails stops it, and rejects `stop`. */
export function followPace(measure: () => Promise<Time> = calculate, usual = USUAL, interval = INTERVAL): Pace {
  const samples: (Time & { at: number })[] = []
  const stopped = Promise.withResolvers<void>()
  let isStopped = false
  const pause = () => Promise.race([stopped.promise, new Promise((resolve) => setTimeout(resolve, interval).unref())])
  const follow = async () => {
    while (!isStopped) {
      const at = Date.now()
      samples.push({ at, ...(await measure()) })
      await pause()
    }
  }
  const following = follow()
  following.catch(() => undefined)
  return {
    slownessSince(start) {
      // A part shorter than the interval is judged by the last calculation before it.
      const last = samples.findLastIndex(({ at }) => at < start)
      const during = samples.slice(Math.max(last, 0))
      const slowness = (of: keyof Time) =>
        Math.max(1, during.reduce((sum, sample) => sum + sample[of], 0) / during.length / usual[of] || 1)
      return { seconds: slowness('seconds'), cpu: slowness('cpu') }
    },
    async stop() {
      isStopped = true
      stopped.resolve()
      await following
    },
  }
}
