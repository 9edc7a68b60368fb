/** Makes what a deployment keeps, in place of CloudFormation: the table, the signing key and the secrets. Idempotent. */
import type { LocalServices } from './services.ts'

/** Makes the table of a name, unless it exists. Throws a StartupError. */
export type MakeTable = (name: string) => Promise<void>

export interface ResourceServices extends LocalServices {
  makeTable: MakeTable
  /** What the names of the secrets begin with, such as `keyplane/local/`. */
  secretPrefix: string
}

const TABLE_NAME = 'keyplane-Table'

/** Returns the variables of functions that name the resources. Throws a StartupError when the table cannot be made. */
export async function makeResources({ makeTable, keys, secrets, secretPrefix }: ResourceServices) {
  const [key, PEPPER_SECRET_ID, ACCESS_KEY_SECRET_ID] = await Promise.all([
    keys.ensureKey('alias/keyplane/SigningKey'),
    secrets.ensureSecret(`${secretPrefix}pepper`),
    secrets.ensureSecret(`${secretPrefix}access-key`),
    makeTable(TABLE_NAME),
  ])
  return { TABLE_NAME, SIGNING_KEY_IDS: key.slice(key.lastIndexOf('/') + 1), PEPPER_SECRET_ID, ACCESS_KEY_SECRET_ID }
}
