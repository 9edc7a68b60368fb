/** Makes what a deployment keeps, in place of CloudFormation: the table, the signing keys and the secrets. Idempotent. */
import type { LocalServices } from './services.ts'

/** Makes the table of a name, unless it exists. Throws a StartupError. */
export type MakeTable = (name: string) => Promise<void>

export interface ResourceServices extends LocalServices {
  makeTable: MakeTable
  /** What the names of the secrets begin with, such as `keyplane/local/`. */
  secretPrefix: string
  /** The setting `signing-keys`. */
  signingKeys?: string | undefined
}

const TABLE_NAME = 'keyplane-Table'

/** Returns the variables of functions that name the resources. Throws a StartupError when the table cannot be made. */
export async function makeResources({ makeTable, keys, secrets, secretPrefix, signingKeys = '1' }: ResourceServices) {
  const ensureKey = (entry: string) =>
    keys.ensureKey(`alias/keyplane/SigningKey${entry === '1' ? '' : entry}`, entry.endsWith('-rsa') ? 'RS256' : 'ES256')
  const [arns, PEPPER_SECRET_ID, ACCESS_KEY_SECRET_ID] = await Promise.all([
    Promise.all(signingKeys.split(',').map(ensureKey)),
    secrets.ensureSecret(`${secretPrefix}pepper`),
    secrets.ensureSecret(`${secretPrefix}access-key`),
    makeTable(TABLE_NAME),
  ])
  const SIGNING_KEY_IDS = arns.map((arn) => arn.slice(arn.lastIndexOf('/') + 1)).join(',')
  return { TABLE_NAME, SIGNING_KEY_IDS, PEPPER_SECRET_ID, ACCESS_KEY_SECRET_ID }
}
