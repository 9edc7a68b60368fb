/** Opens the store. No other module outside of the storage package knows which driver it has. */
import { randomUUID } from 'node:crypto'
import { driver } from '#store-driver'
import { tableName, tableVariable } from '../engine/storage/driver.ts'
import type { Storage } from '../engine/storage/interface.ts'
import { storageOver } from '../engine/storage/protocol/storage.ts'
import { checkVariable, type Environment, requiredText } from './process/environment.ts'
import { lazy } from './process/lazy.ts'
import { countCall } from './process/metrics.ts'
import type { MinimalServer } from './process/minimal.ts'

/** Reports whether a function has a store. */
export const hasStore = (environment: Environment): boolean => environment[tableVariable] !== undefined

/** Returns a function that opens the store on its first call. Throws if the environment names it wrongly. */
export function openStore(
  environment: Environment,
  { elapsed, sleep }: Pick<MinimalServer, 'elapsed' | 'sleep'>,
): () => Storage {
  checkVariable(environment, tableVariable, tableName)
  const { now } = Date
  const { random } = Math
  return lazy(() => {
    const table = requiredText(environment, tableVariable)
    const items = driver.open(table, { now, uuid: randomUUID, called: () => countCall('storage') })
    return storageOver(items, { now, elapsed, random, sleep })
  })
}
