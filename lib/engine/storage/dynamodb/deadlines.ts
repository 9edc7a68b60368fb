/** Ends requests at their deadline inside the client's retries, so that no retry is sent after it. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ItemsFault } from '../items.ts'

interface Limit {
  deadline: number
  now: () => number
}

/**
 * Limits by the input of their command, the one part of a command that the middleware sees. The middleware belongs to the
 * client and not to the command, because a client may compose its middleware once for all commands of an operation.
 */
const limits = new WeakMap<object, Limit>()

/** Returns a function that sets the deadline of a command. Call this before the client sends its first request. */
export function deadlinesOf(client: DynamoDBClient, now: () => number) {
  client.middlewareStack.add(inTime, { step: 'finalizeRequest', priority: 'low', name: 'inTime', override: true })
  return ({ input }: { input: object }, deadline: number): void => void limits.set(input, { deadline, now })
}

const inTime =
  <Arguments extends { input: object }, Answer>(next: (args: Arguments) => Promise<Answer>) =>
  async (args: Arguments): Promise<Answer> => {
    const limit = limits.get(args.input)
    if (limit && limit.now() > limit.deadline) throw new ItemsFault('unanswered', new Error('too late to be sent'))
    return next(args)
  }
