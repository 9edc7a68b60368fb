/** Declares how the composition opens a driver of the store, whatever the driver stores items in. */
import type { Items } from './items.ts'

/** What a driver needs besides its place. */
export interface Means {
  /** The wall clock, unix ms. It limits how late a transaction is sent. */
  now(): number
  uuid(): string
  /** Is called for each request that is sent to the store, each retry included. */
  called(): void
}

export interface Driver {
  /** The environment variable with the place of the store, such as the name of a table. A function without it has no store. */
  readonly variable: string
  /** Reports whether the value of the variable is valid. `form` describes valid values, for error messages. */
  accepts(place: string): boolean
  readonly form: string
  /** Opens the store. Connects to nothing before the first operation. */
  open(place: string, means: Means): Items
}
