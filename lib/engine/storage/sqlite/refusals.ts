/**
 * Refuses what DynamoDB refuses, so that nothing works here and fails there.
 * Source: Amazon DynamoDB Developer Guide, "Quotas in Amazon DynamoDB" and "Constraints in Amazon DynamoDB".
 */
import { type Item, type ItemQuery, type ItemValue, type ItemWrite, keyOf, sizeOf } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { limits } from '../limits.ts'

const { partitionKeyBytes, sortKeyBytes, itemBytes, transactionItems, transactionBytes } = limits

/** Numbers have 38 digits, and magnitudes below this one. */
const digits = 38
const largest = 1e126

/** Has the name that DynamoDB gives such an error. */
class ValidationException extends Error {
  override name = 'ValidationException'
}

function refuse(message: string): never {
  throw new ValidationException(message)
}

export function checkKey({ pk, sk }: ItemKey): void {
  checkKeyText('pk', pk, partitionKeyBytes)
  checkKeyText('sk', sk, sortKeyBytes)
}

function checkKeyText(name: string, value: unknown, most: number): void {
  if (typeof value !== 'string') refuse(`the key ${name} is not a string`)
  if (value === '' || Buffer.byteLength(value) > most) refuse(`the key ${name} must have 1 to ${most} bytes`)
  if (!value.isWellFormed()) refuse(`the key ${name} is not Unicode`)
}

/** Checks an item as it would be after a write, and returns its size. */
export function checkItem(item: Item): number {
  checkKey(item)
  if ('expiryIndex' in item) checkKeyText('expiryIndex', item.expiryIndex, partitionKeyBytes)
  if ('expiry' in item && typeof item.expiry !== 'number') refuse('the key expiry is not a number')
  checkValue(item as { [name: string]: ItemValue })
  const bytes = sizeOf(item)
  if (bytes > itemBytes) refuse('the item is larger than 400 KB')
  return bytes
}

function checkValue(value: ItemValue): void {
  if (typeof value === 'number') checkNumber(value)
  else if (typeof value === 'bigint')
    value.toString().replace('-', '').length > digits && refuse('a number has more than 38 digits')
  else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    for (const one of Object.values(value)) if (one !== undefined) checkValue(one)
  }
}

function checkNumber(value: number): void {
  const isImprecise = Number.isInteger(value) && !Number.isSafeInteger(value)
  if (!Number.isFinite(value) || isImprecise || Math.abs(value) >= largest)
    refuse(`${value} is not a number of DynamoDB`)
}

export function checkBatch(keys: readonly ItemKey[]): void {
  for (const key of keys) checkKey(key)
  if (new Set(keys.map(idOf)).size < keys.length) refuse('the list of keys has duplicates')
}

export function checkTransaction(writes: readonly ItemWrite[]): void {
  if (writes.length === 0 || writes.length > transactionItems) refuse('a transaction has 1 to 100 writes')
  if (new Set(writes.map((write) => idOf(keyOf(write)))).size < writes.length) refuse('two writes have one item')
  writes.forEach(checkWrite)
  if (writes.reduce((sum, write) => sum + sentBytes(write), 0) > transactionBytes)
    refuse('the transaction is larger than 4 MB')
}

export function checkWrite(write: ItemWrite): void {
  checkKey(keyOf(write))
  if (write.type === 'set') checkUpdate(write)
}

const sentBytes = (write: ItemWrite): number =>
  sizeOf(write.type === 'put' ? write.item : { ...write.key, ...(write.type === 'set' && write.attributes) })

function checkUpdate({ attributes, remove = [] }: Extract<ItemWrite, { type: 'set' }>): void {
  const names = [...Object.keys(attributes), ...remove]
  if (names.length === 0) refuse('an update changes no attribute')
  if (names.includes('pk') || names.includes('sk')) refuse('an update changes the key')
  if (new Set(names).size < names.length) refuse('an update changes an attribute twice')
}

export function checkQuery({ pk, from, to, prefix, after, limit = 1 }: ItemQuery): void {
  checkKeyText('pk', pk, partitionKeyBytes)
  for (const one of [from, to, prefix, after]) if (one !== undefined) checkKeyText('sk', one, sortKeyBytes)
  if (limit < 1) refuse('the limit is below 1')
  if (from !== undefined && to !== undefined && Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0) {
    refuse('the range of keys ends before it begins')
  }
}

const idOf = ({ pk, sk }: ItemKey): string => JSON.stringify([pk, sk])
