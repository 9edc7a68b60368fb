/**
 * The stages of a request at every entrance. It is observed from its first moment to its audit record: time, calls, failures and
 * metrics. `inTime` (requestdeadline.ts) bounds the work between.
 */
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { describeError } from '../../engine/meta/errors/describe.ts'
import { faultOf } from '../../engine/meta/errors/status.ts'
import type { LogFields } from '../process/logger.ts'
import { callMetrics, countCalls, faultMetrics, type Measured, newCalls } from '../process/metrics.ts'
import type { MinimalServer } from '../process/minimal.ts'
import { type AuditedEvent, auditRecord, type Judgement } from './audit.ts'

/** Members of the audit record that do not come from the event. */
interface Said {
  facts?: LogFields
  judgement: Judgement
  code: number
}

/** Begins to observe a request. */
export function observe(server: Pick<MinimalServer, 'config' | 'log'>, event: AuditedEvent) {
  const began = performance.now()
  const calls = newCalls()
  const { requestId } = event.requestContext
  const log = (message: string, fields: LogFields, measured: readonly Measured[]): void =>
    server.log('info', message, fields, [...measured, callMetrics(calls)])
  return {
    /** Does work of which the requests to AWS are counted. */
    run: <T>(work: () => T): T => countCalls(calls, work),
    /** Logs a failure, whose cause only the log may show. */
    failed: (error: unknown, message = 'request failed'): void =>
      server.log('error', message, { requestId, error: describeError(error) }),
    /** Writes a log line with these metrics, and those of the calls. */
    log,
    /** Writes the audit record with metrics. */
    audit(said: Said, measured: readonly Measured[]): void {
      const latencyMs = performance.now() - began
      log('audit', auditRecord(event, server.config, { ...said, latencyMs }), measured)
    },
  }
}

/** Writes the audit record of an answer, with the metrics of its failure and `more`. */
export function auditAnswer(
  { audit }: ReturnType<typeof observe>,
  { status: code, fault: known }: Pick<ApiResponse, 'status' | 'fault'>,
  { judgement, facts = {} }: Omit<Said, 'code'>,
  more: readonly Measured[] = [],
): void {
  const fault = code < 400 ? undefined : (known ?? faultOf(code))
  audit({ facts: code < 500 ? facts : { ...facts, fault }, judgement, code }, [faultMetrics(fault), ...more])
}
