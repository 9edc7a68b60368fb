/** Decodes the row changes in the table's stream, as Lambda delivers it. All other items are ignored. */
import type { AttributeValue, DynamoDBStreamEvent, StreamRecord } from 'aws-lambda'
import type { KubeObject } from '../../meta/types.ts'
import { readObject } from '../body.ts'
import type { RowChange, StreamedWrite } from '../interface.ts'
import type { Item } from '../items.ts'
import { parseSortKey, rowsOf } from '../keys.ts'
import { rowState, rvOf } from '../records.ts'
import { type AttributeValues, unmarshalItem } from './expressions.ts'

/** Returns the records of an event of the stream; undefined for any other event. */
export const streamedWrites = (event: Partial<DynamoDBStreamEvent>): StreamedWrite[] | undefined =>
  event.Records?.map(({ dynamodb = {} }) => ({
    id: dynamodb.SequenceNumber ?? '',
    read: (resources) => rowChange(resources, dynamodb),
  }))

/** Returns the change of an object of these resources; undefined for index copies, side items and expiring tombstones. */
export function rowChange(
  resources: readonly string[],
  { Keys, NewImage, OldImage }: StreamRecord,
): RowChange | undefined {
  const pk = Keys?.pk?.S
  const sk = Keys?.sk?.S
  const resource = resources.find((one) => rowsOf(one) === pk)
  if (resource === undefined || sk === undefined || NewImage === undefined) return undefined
  const next = itemOf(NewImage)
  return {
    resource,
    key: parseSortKey(sk),
    rv: rvOf(next),
    before: OldImage && objectOf(itemOf(OldImage)),
    after: objectOf(next),
  }
}

function objectOf(row: Item): KubeObject | undefined {
  const state = rowState(row)
  return state && readObject(state.object, state.rv)
}

const itemOf = (image: Readonly<Record<string, AttributeValue>>): Item =>
  unmarshalItem(
    Object.fromEntries(
      Object.entries(image).map(([name, value]) => [name, decoded(value)]),
    ) as unknown as AttributeValues,
  )

/** Decodes base64: events are JSON. Rows have no bytes inside lists or maps. */
const decoded = (value: AttributeValue) =>
  value.B === undefined ? value : { B: new Uint8Array(Buffer.from(value.B, 'base64')) }
