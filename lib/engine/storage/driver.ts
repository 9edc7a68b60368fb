/** Declares how the composition opens a driver of the store, whatever the driver stores items in. */
import type { StreamedWrite } from './interface.ts'
import type { Items } from './items.ts'

/** What a driver needs besides the name of the table. */
export interface Means {
  /** The wall clock, unix ms. It limits how late a transaction is sent. */
  now(): number
  uuid(): string
  /** Is called for each request that is sent to the store, each retry included. */
  called(): void
}

/** The driver that a function is bundled with is `#store-driver` of package.json. */
export interface Driver {
  /** Opens the table of a name. Connects to nothing before the first operation. */
  open(table: string, means: Means): Items
}

/**
 * Returns the writes in an event that the driver's stream of writes sends to a function; undefined for any other event. A driver exports
 * it beside itself, so that only bundles that use it have it.
 */
export type ChangesIn = (event: object) => StreamedWrite[] | undefined

/** The environment variable with the name of the table. A function without it has no store. */
export const tableVariable = 'TABLE_NAME'

/** The form of its values. */
export const tableName = { accepts: (name: string) => /^[\w.-]{3,255}$/.test(name), form: 'the name of a table' }
