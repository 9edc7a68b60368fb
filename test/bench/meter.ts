/** Counts the calls of a DynamoDB client and the capacity units that they consume. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

export interface Meter {
  /** Calls, counting each try. */
  calls: number
  readUnits: number
  writeUnits: number
}

interface Consumed {
  CapacityUnits?: number
}

const reads = new Set(['GetItemCommand', 'BatchGetItemCommand', 'QueryCommand', 'TransactGetItemsCommand'])

/** Returns a meter of all later calls of the client. */
export function meterOf(client: DynamoDBClient): Meter {
  const meter: Meter = { calls: 0, readUnits: 0, writeUnits: 0 }
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const input = { ...(args.input as object), ReturnConsumedCapacity: 'TOTAL' }
        const answer = await next({ ...args, input: input as typeof args.input })
        const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Consumed | Consumed[] }
        const units = [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
        if (reads.has(commandName ?? '')) meter.readUnits += units
        else meter.writeUnits += units
        return answer
      },
    { step: 'initialize', name: 'meterCapacity' },
  )
  client.middlewareStack.add(
    (next) => (args) => {
      meter.calls++
      return next(args)
    },
    { step: 'finalizeRequest', priority: 'low', name: 'meterCalls' },
  )
  return meter
}

/** Returns what the meter counts during the work. */
export async function during(meter: Meter, work: () => Promise<unknown>): Promise<Meter> {
  const { calls, readUnits, writeUnits } = meter
  await work()
  return {
    calls: meter.calls - calls,
    readUnits: meter.readUnits - readUnits,
    writeUnits: meter.writeUnits - writeUnits,
  }
}
