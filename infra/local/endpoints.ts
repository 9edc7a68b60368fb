/** Starts the AWS services of the local server: DynamoDB, KMS, Secrets Manager and EventBridge. */

import type { AwsEndpoint, VerifySignature } from './aws/awsjson.ts'
import { startEmbeddedDynamoDB } from './aws/dynamodb.ts'
import { startEventBridge } from './aws/eventbridge.ts'
import { type Kms, startKms } from './aws/kms.ts'
import { type SecretsManager, startSecretsManager } from './aws/secretsmanager.ts'
import type { DataDir } from './datadir.ts'

export interface Endpoints {
  /** DynamoDB's URL. */
  dynamodb: string
  kms: Kms
  secrets: SecretsManager
  events: AwsEndpoint
  /** Resolves with a sentence when the embedded DynamoDB exits unexpectedly. */
  broken: Promise<string>
}

export interface EndpointsOptions {
  dataDir: DataDir
  /** Replaces the embedded DynamoDB. */
  dynamodbEndpoint?: string
  region: string
  account: string
  verify: VerifySignature
  /** Called for every event that is published. */
  published(detail: string): void
  /** Collects the parts to stop. */
  stack: AsyncDisposableStack
}

/** Throws a StartupError. */
export async function startEndpoints(options: EndpointsOptions): Promise<Endpoints> {
  const { dataDir, dynamodbEndpoint, region, account, verify, published, stack } = options
  const common = { region, account, verify }
  const [database, keys, bus] = await Promise.allSettled([
    dynamodbEndpoint === undefined ? startEmbedded(dataDir, verify, stack) : { url: dynamodbEndpoint, broken: never },
    startKms({ ...common, ...dataDir.stateFile('kms.json') }).then((kms) => disposeWith(stack, kms)),
    startEventBridge({ verify, received: published, ...dataDir.stateFile('events.jsonl') }).then((events) =>
      disposeWith(stack, events),
    ),
  ])
  if (database.status === 'rejected') throw database.reason
  if (keys.status === 'rejected') throw keys.reason
  if (bus.status === 'rejected') throw bus.reason
  const kms = keys.value
  const secrets = disposeWith(
    stack,
    await startSecretsManager({ ...common, kms, ...dataDir.stateFile('secrets.json') }),
  )
  return { dynamodb: database.value.url, broken: database.value.broken, kms, secrets, events: bus.value }
}

const never = new Promise<never>(() => {})

function disposeWith<Part extends { close(): Promise<void> }>(stack: AsyncDisposableStack, part: Part): Part {
  stack.defer(() => part.close())
  return part
}

async function startEmbedded(dataDir: DataDir, verify: VerifySignature, stack: AsyncDisposableStack) {
  const platform = `${process.platform}-${process.arch}`
  const dynamodb = await startEmbeddedDynamoDB({ ...dataDir.stateFile('dynamodb.db'), platform, verify })
  let stopping = false
  stack.defer(() => {
    stopping = true
    return dynamodb.close()
  })
  const broken = new Promise<string>((resolve) => {
    dynamodb.ended.then((why) => stopping || resolve(`The embedded DynamoDB has ended: ${why}`))
  })
  return { url: dynamodb.url, broken }
}
