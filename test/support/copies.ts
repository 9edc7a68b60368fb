/** Copies the stored items of one access key under other names, which is faster than creating keys. */
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { credentialItemKey } from '../../lib/authentication/credential.ts'
import { type ItemKey, rowsOf } from '../../lib/storage/keys.ts'

/** Concurrent requests. More do not make the emulator faster. */
const width = 4
/** The limit of BatchWriteItem. */
const batchItems = 25

export interface Place {
  client: DynamoDBClient
  table: string
}

/**
 * Copies an access key `count` times and returns the names. Each copy has a row, index entries and a credential with its
 * own name, UID and hash, at the revision of the original and without log entries. Its name must not occur in other values.
 */
export async function copyKey(place: Place, name: string, count: number): Promise<string[]> {
  const { resource } = OwnedAccessKey.table
  const row = await itemAt(place, { pk: rowsOf(resource), sk: name })
  const { uid } = JSON.parse(row.object?.S ?? '').metadata
  const { credential } = JSON.parse(row.internal?.S ?? '')
  const others = (row.partitions?.L ?? []).map(({ S }) => ({ pk: rowsOf(resource, S), sk: name }))
  const rest = await Promise.all([...others, credentialItemKey(credential)].map((key) => itemAt(place, key)))
  const patterns = [row, ...rest].map((item) => JSON.stringify(item))
  const copies = Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index}`,
    number: String(index).padStart(8, '0'),
  }))
  await putAll(place, copies.length * patterns.length, (index) => {
    const copy = copies[Math.floor(index / patterns.length)]
    const pattern = patterns[index % patterns.length] ?? ''
    const text = pattern
      .replaceAll(name, copy?.name ?? '')
      .replaceAll(uid, `${copy?.number}${uid.slice(8)}`)
      .replaceAll(credential.hash, `${copy?.number}${credential.hash.slice(8)}`)
    return JSON.parse(text)
  })
  return copies.map((copy) => copy.name)
}

async function itemAt({ client, table }: Place, { pk, sk }: ItemKey): Promise<Record<string, AttributeValue>> {
  const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { pk: { S: pk }, sk: { S: sk } } }))
  if (!Item) throw new Error(`nothing is at ${pk} ${sk}`)
  return Item
}

async function putAll({ client, table }: Place, count: number, itemOf: (index: number) => object): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const first = next
      next += batchItems
      let requests: WriteRequest[] = Array.from({ length: Math.min(batchItems, count - first) }, (_, index) => ({
        PutRequest: { Item: itemOf(first + index) as Record<string, AttributeValue> },
      }))
      while (requests.length > 0) {
        const { UnprocessedItems } = await client.send(
          new BatchWriteItemCommand({ RequestItems: { [table]: requests } }),
        )
        requests = UnprocessedItems?.[table] ?? []
      }
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
}
