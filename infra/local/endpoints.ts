/** Starts the AWS services of the local server: KMS, Secrets Manager and EventBridge. */
import type { AwsEndpoint, VerifySignature } from './aws/awsjson.ts'
import { startEventBridge } from './aws/eventbridge.ts'
import { type Kms, startKms } from './aws/kms.ts'
import { type SecretsManager, startSecretsManager } from './aws/secretsmanager.ts'
import type { DataDir } from './datadir.ts'

export interface Endpoints {
  kms: Kms
  secrets: SecretsManager
  events: AwsEndpoint
}

export interface EndpointsOptions {
  dataDir: DataDir
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
  const { dataDir, region, account, verify, published, stack } = options
  const common = { region, account, verify }
  const [keys, bus] = await Promise.allSettled([
    startKms({ ...common, ...dataDir.stateFile('kms.json') }).then((kms) => disposeWith(stack, kms)),
    startEventBridge({ verify, received: published, ...dataDir.stateFile('events.jsonl') }).then((events) =>
      disposeWith(stack, events),
    ),
  ])
  if (keys.status === 'rejected') throw keys.reason
  if (bus.status === 'rejected') throw bus.reason
  const kms = keys.value
  const secrets = disposeWith(
    stack,
    await startSecretsManager({ ...common, kms, ...dataDir.stateFile('secrets.json') }),
  )
  return { kms, secrets, events: bus.value }
}

function disposeWith<Part extends { close(): Promise<void> }>(stack: AsyncDisposableStack, part: Part): Part {
  stack.defer(() => part.close())
  return part
}
