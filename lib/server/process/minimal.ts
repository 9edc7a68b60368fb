/**
 * What every function has of its deployment: settings, a log, a clock, the signer. Functions that answer from the request
 * alone have nothing else, and so load neither the store nor its client.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { connectKms, kmsSigner } from '../../token/kms.ts'
import type { Signer } from '../../token/signer.ts'
import { type Config, readConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { lazy } from './lazy.ts'
import { createLog, type Log } from './log.ts'
import { embedMetrics, meter } from './metrics.ts'

export interface MinimalServer {
  config: Config
  log: Log
  signer: Signer
  now(): Date
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>
  /** Milliseconds on a clock that never goes back. */
  elapsed(): number
}

function createSigner(config: Config): Signer {
  const [first, ...others] = config.signingKeyIds
  if (!first) throw new Error('environment variable SIGNING_KEY_IDS names no key')
  return kmsSigner(
    [first, ...others],
    lazy(async () => meter(await connectKms(), 'kms')),
  )
}

/** The minimal server of this environment. Nothing is connected or read before it is needed. */
export function createMinimalServer(environment: Environment): MinimalServer {
  const config = readConfig(environment)
  const signer = lazy(() => createSigner(config))
  return {
    config,
    log: createLog(
      (line) => process.stdout.write(line),
      (measured) => embedMetrics(`keyplane/${config.stage}`, Date.now(), measured),
    ),
    now: () => new Date(),
    sleep: (ms) => delay(ms),
    elapsed: () => performance.now(),
    get signer() {
      return signer()
    },
  }
}
