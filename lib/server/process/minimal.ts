/**
 * Makes the minimal server that every function has: settings, a log, a clock and the signer. Functions that answer from
 * the request alone use nothing else, so they do not load the store and its client.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openKeys } from '#signing-keys'
import { createSigner, type Signer } from '../../clusters/token/signer.ts'
import { type Config, readConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { lazy, withParts } from './lazy.ts'
import { createLog, type Log } from './logger.ts'
import { countCall, embedMetrics } from './metrics.ts'

export interface MinimalServer {
  config: Config
  log: Log
  signer: Signer
  now(): Date
  /** Resolves after the given number of milliseconds. */
  sleep(ms: number): Promise<void>
  /** Returns milliseconds on a monotonic clock. */
  elapsed(): number
}

function signerOf({ signingKeyIds: [first, ...others] }: Config): Signer {
  if (!first) throw new Error('environment variable SIGNING_KEY_IDS does not name a key')
  return createSigner(
    [first, ...others],
    lazy(() => openKeys(() => countCall('kms'))),
  )
}

/** Returns the minimal server for an environment. It connects and reads nothing before the first use. */
export function createMinimalServer(environment: Environment): MinimalServer {
  const config = readConfig(environment)
  const log = createLog(
    (line) => process.stdout.write(line),
    (measured) => embedMetrics(`keyplane/${config.stage}`, Date.now(), measured),
  )
  const own = { config, log, now: () => new Date(), sleep: (ms: number) => delay(ms), elapsed: () => performance.now() }
  return withParts({}, own, { signer: () => signerOf(config) })
}
