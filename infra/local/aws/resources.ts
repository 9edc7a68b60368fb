/**
 * Creates the tables, KMS keys and secrets of the packaged template in the local endpoints. Idempotent: existing resources are
 * kept. Ignores resource types that exist in AWS only.
 */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { StartupError } from '../host/startuperror.ts'
import type { Kms } from './kms.ts'
import type { KmsKeySpec } from './kmskeys.ts'
import type { SecretsManager } from './secretsmanager.ts'

export interface ResourceServices {
  /** DynamoDB's URL. */
  dynamodb: string
  kms: Pick<Kms, 'ensureKey'>
  secrets: Pick<SecretsManager, 'ensureSecret'>
  /** Replaces everything before the last segment of a secret's name, such as `keyplane/local/`. */
  secretPrefix: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string }
}

/** Physical ids by logical id (`Ref`), and attributes by `LOGICALID.ATTRIBUTE` (`Fn::GetAtt`). */
export type ResourceReferences = Record<string, string>

interface Resource {
  Type: string
  Properties: Record<string, unknown>
}

/** Creates the resources of a CloudFormation template. Throws a StartupError when DynamoDB does not respond. */
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
  async 'AWS::DynamoDB::Table'(id, properties, services) {
    const name = `keyplane-${id}`
    const arn = await ensureTable(name, properties, services)
    return { [id]: name, [`${id}.Arn`]: arn, [`${id}.StreamArn`]: `${arn}/stream/local` }
  },
  async 'AWS::KMS::Key'(id, { KeySpec = 'SYMMETRIC_DEFAULT' }, { kms }) {
    const arn = await kms.ensureKey(`alias/keyplane/${id}`, KeySpec as KmsKeySpec)
    return { [id]: arn.slice(arn.lastIndexOf('/') + 1), [`${id}.Arn`]: arn }
  },
  async 'AWS::SecretsManager::Secret'(id, { Name }, { secrets, secretPrefix }) {
    const name = String(Name ?? id.toLowerCase())
    return { [id]: await secrets.ensureSecret(`${secretPrefix}${name.slice(name.lastIndexOf('/') + 1)}`) }
  },
}

/** Creates the table, unless it exists, and returns its ARN. */
async function ensureTable(name: string, properties: Record<string, unknown>, services: ResourceServices) {
  const { dynamodb: endpoint, region, credentials } = services
  const client = new DynamoDBClient({ endpoint, region, credentials })
  try {
    await client.send(new CreateTableCommand(tableInput(name, properties)))
    const { AttributeName, Enabled } = (properties.TimeToLiveSpecification ?? {}) as Record<string, never>
    if (AttributeName)
      await client.send(
        new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: { AttributeName, Enabled } }),
      )
  } catch (error) {
    const { name: reason, message } = error as Error
    if (reason !== 'ResourceInUseException')
      throw new StartupError(`DynamoDB at ${endpoint} cannot create the table ${name}: ${message || reason}.`, error)
  } finally {
    client.destroy()
  }
  return `arn:aws:dynamodb:${region}:000000000000:table/${name}`
}

/**
 * Returns the properties that CloudFormation and the API have in common. Omits the stream: its readers run on timers here,
 * and the emulator keeps stream records forever and slows down as they accumulate.
 */
function tableInput(name: string, properties: Record<string, unknown>): CreateTableCommandInput {
  const { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes } = properties as Pick<
    CreateTableCommandInput,
    'AttributeDefinitions' | 'KeySchema' | 'BillingMode' | 'GlobalSecondaryIndexes'
  >
  return {
    TableName: name,
    AttributeDefinitions,
    KeySchema,
    BillingMode,
    ...(GlobalSecondaryIndexes && { GlobalSecondaryIndexes }),
  }
}
