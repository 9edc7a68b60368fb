/**
 * Embeds metrics in log lines. CloudWatch extracts them from the log, so that measuring needs no call. Only names of this
 * service become dimensions, never client input: AWS bills each combination of dimension values as a metric.
 * Source: CloudWatch embedded metric format specification.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Fault } from '../../engine/meta/errors/status.ts'

/** Counts by metric name. */
export interface Measured {
  /** Dimensions of the metrics. Absent means none. */
  dimensions?: Readonly<Record<string, string>>
  values: Readonly<Record<string, number>>
}

/**
 * Returns the members to add to a log line. Names of values and dimensions must differ, and values with the same name must
 * be equal. `now` is in Unix milliseconds.
 */
export const embedMetrics = (namespace: string, now: number, measured: readonly Measured[]): object => ({
  ...Object.assign({}, ...measured.flatMap(({ dimensions, values }) => [dimensions, values])),
  _aws: {
    Timestamp: now,
    CloudWatchMetrics: measured.map(({ dimensions = {}, values }) => ({
      Namespace: namespace,
      Dimensions: [Object.keys(dimensions)],
      Metrics: Object.keys(values).map((Name) => ({ Name, Unit: 'Count' })),
    })),
  },
})

/** Numbers of requests to AWS, including retries. */
interface Calls {
  storage: number
  kms: number
  secrets: number
}

const current = new AsyncLocalStorage<Calls>()

/** Runs `work`, and counts in `calls` the requests that metered clients send meanwhile. */
export const countCalls = <T>(calls: Calls, work: () => T): T => current.run(calls, work)

/** Returns counters for `countCalls`. */
export const newCalls = (): Calls => ({ storage: 0, kms: 0, secrets: 0 })

/** Returns the calls as metrics without dimensions. */
export const callMetrics = ({ storage, kms, secrets }: Calls): Measured => ({
  values: { storageCalls: storage, kmsCalls: kms, secretCalls: secrets },
})

declare module '../../engine/meta/errors/status.ts' {
  interface Parties {
    virtualCluster: true
    issuer: true
  }
}

/** Returns the failures of a request as metrics. They have no endpoint: the audit record and the access log do. */
export const faultMetrics = (fault: Fault | undefined): Measured => ({
  values: { serverErrors: fault === 'server' ? 1 : 0, virtualClusterErrors: fault === 'virtualCluster' ? 1 : 0 },
})

/** Counts one request. */
export function countCall(service: keyof Calls): void {
  const calls = current.getStore()
  if (calls) calls[service]++
}
