/**
 * Creates the tables, KMS keys and secrets of the packaged template in the local endpoints. Idempotent: existing resources are
 * kept. Ignores resource types that exist in AWS only.
 */
import type { Kms } from './kms.ts'
import type { SecretsManager } from './secretsmanager.ts'

/** Makes the table of a name, unless it exists. Throws a StartupError. */
export type MakeTable = (name: string, properties: Readonly<Record<string, unknown>>) => Promise<void>

export interface ResourceServices {
  makeTable: MakeTable
  kms: Pick<Kms, 'ensureKey'>
  secrets: Pick<SecretsManager, 'ensureSecret'>
  /** Replaces everything before the last segment of a secret's name, such as `keyplane/local/`. */
  secretPrefix: string
  region: string
}

/** Physical ids by logical id (`Ref`), and attributes by `LOGICALID.ATTRIBUTE` (`Fn::GetAtt`). */
export type ResourceReferences = Record<string, string>

interface Resource {
  Type: string
  Properties: Record<string, unknown>
}

/** Creates the resources of a CloudFormation template. Throws a StartupError when the table cannot be created. */
export async function makeResources(template: string, services: ResourceServices): Promise<ResourceReferences> {
  const { Resources } = JSON.parse(template) as { Resources: Record<string, Resource> }
  const made = await Promise.all(
    Object.entries(Resources).map(([id, { Type, Properties }]) => MAKERS[Type]?.(id, Properties, services) ?? {}),
  )
  return Object.assign({}, ...made)
}

type Maker = (
  id: string,
  properties: Record<string, unknown>,
  services: ResourceServices,
) => Promise<ResourceReferences>

const MAKERS: Readonly<Record<string, Maker>> = {
  async 'AWS::DynamoDB::Table'(id, properties, { makeTable, region }) {
    const name = `keyplane-${id}`
    await makeTable(name, properties)
    const arn = `arn:aws:dynamodb:${region}:000000000000:table/${name}`
    return { [id]: name, [`${id}.Arn`]: arn, [`${id}.StreamArn`]: `${arn}/stream/local` }
  },
  async 'AWS::KMS::Key'(id, _, { kms }) {
    const arn = await kms.ensureKey(`alias/keyplane/${id}`)
    return { [id]: arn.slice(arn.lastIndexOf('/') + 1), [`${id}.Arn`]: arn }
  },
  async 'AWS::SecretsManager::Secret'(id, { Name }, { secrets, secretPrefix }) {
    const name = String(Name ?? id.toLowerCase())
    return { [id]: await secrets.ensureSecret(`${secretPrefix}${name.slice(name.lastIndexOf('/') + 1)}`) }
  },
}
