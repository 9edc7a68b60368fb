/** Classifies exceptions of the DynamoDB client for the protocol. */
import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { own } from '../../meta/value/walk.ts'
import { type FaultKind, ItemsFault } from '../items.ts'

const faultKinds: Readonly<Record<string, FaultKind>> = {
  TransactionConflictException: 'conflict',
  ProvisionedThroughputExceededException: 'throttled',
  RequestLimitExceeded: 'throttled',
  ThrottlingException: 'throttled',
  Throttling: 'throttled',
  LimitExceededException: 'throttled',
  // An earlier attempt of the same request is still in progress.
  TransactionInProgressException: 'unanswered',
}

/** Names and codes of network failures, after which the outcome of the request is unknown. */
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
  const kind = own(faultKinds, error.name)
  if (kind) return kind
  if (silences.has(error.name) || ('code' in error && silences.has(error.code))) return 'unanswered'
  // Without $fault the error is not a service exception: the response could not be parsed.
  if (!('$fault' in error)) return '$metadata' in error ? 'unanswered' : undefined
  return error.$fault === 'server' ? 'unanswered' : undefined
}

/** Sends a request. Throws an ItemsFault for a transient error, and any other error unchanged (refusals, bugs, denied access). */
export async function sendClassified<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const kind = error instanceof ItemsFault ? undefined : faultKind(error)
    throw kind ? new ItemsFault(kind, error) : error
  }
}

/** Sends a conditional request. Returns the exception if its condition failed, else undefined. */
export async function sendConditional(
  request: () => Promise<unknown>,
): Promise<ConditionalCheckFailedException | undefined> {
  try {
    await sendClassified(request)
    return undefined
  } catch (error) {
    if (isConditionFailure(error)) return error
    throw error
  }
}

const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException'
