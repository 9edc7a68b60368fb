/** What an exception of the DynamoDB client means for the protocol. */
import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { own } from '../../meta/value/walk.ts'
import { Fault, type FaultKind } from '../items.ts'

const kinds: Readonly<Record<string, FaultKind>> = {
  TransactionConflictException: 'conflict',
  ProvisionedThroughputExceededException: 'throttled',
  RequestLimitExceeded: 'throttled',
  ThrottlingException: 'throttled',
  Throttling: 'throttled',
  LimitExceededException: 'throttled',
  // An earlier try of the same request is still at work.
  TransactionInProgressException: 'unanswered',
}

/** Names and codes of failures between here and there, which say nothing of what was done there. */
const silences: ReadonlySet<unknown> = new Set([
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'AbortError',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

function faultKind(error: unknown): FaultKind | undefined {
  if (!(error instanceof Error)) return undefined
  const kind = own(kinds, error.name)
  if (kind) return kind
  if (silences.has(error.name) || ('code' in error && silences.has(error.code))) return 'unanswered'
  // Without $fault it is no exception of the service but an answer that could not be read.
  if (!('$fault' in error)) return '$metadata' in error ? 'unanswered' : undefined
  return error.$fault === 'server' ? 'unanswered' : undefined
}

/** Runs a request; throws a Fault for what may pass, and everything else as it is: refusals, bugs, missing rights. */
export async function answered<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const kind = error instanceof Fault ? undefined : faultKind(error)
    throw kind ? new Fault(kind, error) : error
  }
}

/** Runs a conditional request: the exception when its condition failed, undefined when it was done. */
export async function refused(request: () => Promise<unknown>): Promise<ConditionalCheckFailedException | undefined> {
  try {
    await answered(request)
    return undefined
  } catch (error) {
    if (isConditionFailure(error)) return error
    throw error
  }
}

const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException'
