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
  const [kms, secrets, events] = await Promise.allSettled([
    startKms({ ...common, ...dataDir.stateFile('kms.json') }).then((kms) => disposeWith(stack, kms)),
    startSecretsManager({ ...common, ...dataDir.stateFile('secrets.json') }).then((secrets) =>
      disposeWith(stack, secrets),
    ),
    startEventBridge({ verify, received: published, ...dataDir.stateFile('events.jsonl') }).then((events) =>
      disposeWith(stack, events),
    ),
  ])
  if (kms.status === 'rejected') throw kms.reason
  if (secrets.status === 'rejected') throw secrets.reason
  if (events.status === 'rejected') throw events.reason
  return { kms: kms.value, secrets: secrets.value, events: events.value }
}

function disposeWith<Part extends { close(): Promise<void> }>(stack: AsyncDisposableStack, part: Part): Part {
  stack.defer(() => part.close())
  return part
}
