/** Builds the store of access keys as in the functions, on its own client with a meter. */
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { authenticate } from '../../lib/authentication/requests/authenticate.ts'
import type { Store } from '../../lib/registry/store.ts'
import { authenticationDeps } from '../../lib/server/authentication.ts'
import { withParts } from '../../lib/server/process/lazy.ts'
import { itemsIn } from '../../lib/storage/dynamodb/dynamodb.ts'
import type { Storage } from '../../lib/storage/interface.ts'
import type { Place } from '../support/copies.ts'
import type { TestDeployment } from '../support/deployment.ts'
import { storageIn } from '../support/store.ts'
import { type Meter, meterOf } from './meter.ts'

export function storageOf({ store: { dynamodb } }: TestDeployment): { storage: Storage; meter: Meter } {
  const client = dynamodb.connect()
  return { storage: storageIn(itemsIn(client, dynamodb.table, Date.now)), meter: meterOf(client) }
}

export interface Keys {
  store: Store
  meter: Meter
  /** A client without the meter. */
  place: Place
  /** Authenticates a key as the authorizer does. Throws on an invalid key. */
  authenticate(key: string): Promise<void>
}

export function keysOf(deployment: TestDeployment): Keys {
  const { storage, meter } = storageOf(deployment)
  const deps = authenticationDeps(withParts(deployment.parts, { storage }), (error) => {
    throw error
  })
  return {
    store: { ...deployment.parts.storeOf(OwnedAccessKey), storage },
    meter,
    place: deployment.store.dynamodb,
    async authenticate(key) {
      const result = await authenticate(key, deps)
      if (!('user' in result)) throw new Error('the key is not good')
    },
  }
}

/** Returns the costs of one of `count` calls, in the order of `costs`. */
export const perCall = ({ calls, readUnits, writeUnits }: Meter, count: number): number[] => [
  calls / count,
  readUnits / count,
  writeUnits / count,
]
export const costs = ['calls', 'read units', 'write units']
