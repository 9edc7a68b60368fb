/**
 * Embedded metrics: members of a log line that CloudWatch turns into metrics as it receives it, so that measuring takes no
 * call. Only this side's own words become dimensions: each value of one is a metric that is paid for.
 * Source: CloudWatch embedded metric format specification.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Fault } from '../../meta/errors/status.ts'

/** Values by the names of their metrics: milliseconds where the name ends so, else counts. */
export interface Measured {
  /** By what they are told apart; absent = by nothing. */
  dimensions?: Readonly<Record<string, string>>
  values: Readonly<Record<string, number>>
}

const unitOf = (name: string) => (name.endsWith('Ms') ? 'Milliseconds' : 'Count')

/** The members to add to a line. Names of values and dimensions must differ; values of one name are one value. `now`: unix ms. */
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

/** Requests that were sent to AWS, with those that were sent again. */
export interface Calls {
  storage: number
  kms: number
  secrets: number
}

const current = new AsyncLocalStorage<Calls>()

/** Runs `work` and counts into `calls` what metered clients send meanwhile. */
export const countCalls = <T>(calls: Calls, work: () => T): T => current.run(calls, work)

/** To be counted into. */
export const newCalls = (): Calls => ({ storage: 0, kms: 0, secrets: 0 })

/** The calls as metrics that nothing tells apart. */
export const callMetrics = ({ storage, kms, secrets }: Calls): Measured => ({
  values: { storageCalls: storage, kmsCalls: kms, secretCalls: secrets },
})

/**
 * The failures of a request, by endpoint; those of the server also for all endpoints together, which the alarm looks at, and
 * those of virtual clusters only so: one endpoint has them.
 */
export function faultMetrics(fault: Fault | undefined, dimensions: Measured['dimensions'] = {}): Measured[] {
  const count = (one: Fault) => (fault === one ? 1 : 0)
  const serverErrors = count('server')
  return [
    { dimensions, values: { clientErrors: count('client'), serverErrors } },
    { values: { serverErrors, virtualClusterErrors: count('virtualCluster') } },
  ]
}

type Next = (args: object) => Promise<object>

/** What a client of the SDK is here: its middleware is typed by its commands. */
interface Client {
  middlewareStack: { add(...args: never[]): unknown }
}

/** The client, whose requests are counted from now on. */
export function meter<C extends Client>(client: C, service: keyof Calls): C {
  const count = (next: Next) => (args: object) => {
    const calls = current.getStore()
    if (calls) calls[service]++
    return next(args)
  }
  // Inside the retries.
  client.middlewareStack.add(...([count, { step: 'finalizeRequest', priority: 'low', name: 'meter' }] as never[]))
  return client
}
