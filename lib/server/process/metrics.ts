/**
 * Embeds metrics in log lines. CloudWatch extracts them from the log, so that measuring needs no call. Only names of this
 * service become dimensions, never client input: AWS bills each combination of dimension values as a metric.
 * Source: CloudWatch embedded metric format specification.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Fault } from '../../meta/errors/status.ts'

/** Values by metric name. Names that end in `Ms` are milliseconds, all others are counts. */
export interface Measured {
  /** Dimensions of the metrics. Absent means none. */
  dimensions?: Readonly<Record<string, string>>
  values: Readonly<Record<string, number>>
}

const unitOf = (name: string) => (name.endsWith('Ms') ? 'Milliseconds' : 'Count')

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
      Metrics: Object.keys(values).map((Name) => ({ Name, Unit: unitOf(Name) })),
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

/**
 * Returns the failure metrics of a request by endpoint. Server errors are also counted across all endpoints, for the alarm.
 * Virtual cluster errors are counted only across endpoints, because only one endpoint has them.
 */
export function faultMetrics(fault: Fault | undefined, dimensions: Measured['dimensions'] = {}): Measured[] {
  const count = (one: Fault) => (fault === one ? 1 : 0)
  const serverErrors = count('server')
  return [
    { dimensions, values: { clientErrors: count('client'), serverErrors } },
    { values: { serverErrors, virtualClusterErrors: count('virtualCluster') } },
  ]
}

/** Counts one request. */
export function countCall(service: keyof Calls): void {
  const calls = current.getStore()
  if (calls) calls[service]++
}
