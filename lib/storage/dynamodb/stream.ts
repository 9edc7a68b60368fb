/** The table's stream as Lambda hands it over: what happened to rows. Everything else in the table is passed over. */
import type { AttributeValue, StreamRecord } from 'aws-lambda'
import type { KubeObject } from '../../meta/types.ts'
import { readObject } from '../body.ts'
import type { Item } from '../items.ts'
import { keyOf, rowsOf } from '../keys.ts'
import { rowState, rvOf } from '../protocol/records.ts'
import { type Attributes, unmarshalled } from './expressions.ts'

/** One write of an object; `before` and `after` are undefined where it did not exist. */
export interface RowChange {
  resource: string
  key: string
  rv: number
  before: KubeObject | undefined
  after: KubeObject | undefined
}

/** Undefined for what is no change of an object of these resources: index copies, side items, tombstones that expire. */
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
    key: keyOf(sk),
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
  unmarshalled(
    Object.fromEntries(Object.entries(image).map(([name, value]) => [name, decoded(value)])) as unknown as Attributes,
  )

/** Events are JSON: bytes come as base64. Rows have them in no lists or maps. */
const decoded = (value: AttributeValue) =>
  value.B === undefined ? value : { B: new Uint8Array(Buffer.from(value.B, 'base64')) }
