/** The limits of DynamoDB. Every driver has them, so that nothing works in one and fails in another. */
import type { Limits } from './items.ts'

export const limits: Limits = {
  partitionKeyBytes: 2048,
  sortKeyBytes: 1024,
  itemBytes: 400 * 1024,
  transactionItems: 100,
  transactionBytes: 4 * 1024 * 1024,
  queryBytes: 1024 * 1024,
  // As many objects of 1 KB as a page holds. The emulator of the tests reads all following items before it ends a page, so without
  // this limit a full list takes quadratic time.
  queryItems: 1000,
}
