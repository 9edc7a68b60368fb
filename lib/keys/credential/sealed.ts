/** Stores the values of write-only fields in credentials. */
import type { JsonObject } from '../../engine/meta/types.ts'
import { constantTimeEqual } from './constanttime.ts'

/** The values of write-only fields by path (`identity.connectorData`). Reads never return them. */
export type Sealed = Readonly<Record<string, string>>

const SEALED = 'sealed:'

/** Returns the attributes that store sealed values. */
export const seal = (sealed: Sealed): JsonObject =>
  Object.fromEntries(Object.entries(sealed).map(([path, value]) => [SEALED + path, value]))

/** Returns the attributes of an item that store sealed values. */
export const sealedIn = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name.startsWith(SEALED)))

/**
 * Reports whether the item has this sealed value. Constant time, because owners can test values that they cannot read.
 */
export function hasSealedValue(item: JsonObject, path: string, value: string): boolean {
  const held = item[SEALED + path]
  return typeof held === 'string' && constantTimeEqual(held, value)
}
