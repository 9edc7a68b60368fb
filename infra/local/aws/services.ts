/** Provides the functions of this process with what KMS, Secrets Manager and EventBridge are in AWS. */

import { type LocalSecrets, SECRETS } from '../../../lib/clusters/localsecrets.ts'
import { SIGNING_KEYS } from '../../../lib/clusters/token/localkeys.ts'
import type { OpenKeys } from '../../../lib/clusters/token/signingkeys.ts'
import { provide } from '../../../lib/engine/meta/provided.ts'
import { EVENT_BUS } from '../../../lib/keys/events/localbus.ts'
import type { OpenBus } from '../../../lib/keys/events/publish.ts'
import { CLUSTER_SECRETS_FILE, withClusterSecrets } from './clustersecrets.ts'
import { openLocalBus } from './eventbus.ts'
import { openSecretStore, type SecretStore } from './secrets.ts'
import { type LocalKeys, openLocalKeys } from './signingkeys.ts'

export interface LocalServices {
  keys: LocalKeys
  secrets: SecretStore
  /** Provides them again, until the returned function is called: for functions that begin while another server of this process has begun. */
  provide(): () => void
}

export interface LocalServicesOptions {
  /** Returns the path of a state file, or none to keep the state in memory. */
  stateFile(name: string): { path?: string }
  region: string
  /** Twelve digits. */
  account: string
  /** Called for every event that is published, with its JSON text. */
  published(detail: string): void
}

/** Provides the services until the stack is disposed of. Throws a StartupError. */
export async function provideServices(
  { stateFile, region, account, published }: LocalServicesOptions,
  stack: AsyncDisposableStack,
): Promise<LocalServices> {
  const keys = await openLocalKeys(stateFile('kms.json').path, `arn:aws:kms:${region}:${account}:key/`)
  const secretsPrefix = `arn:aws:secretsmanager:${region}:${account}:secret:`
  const own = await openSecretStore(stateFile('secrets.json').path, secretsPrefix)
  const secrets = withClusterSecrets(own, stateFile(CLUSTER_SECRETS_FILE).path)
  const bus = await openLocalBus(stateFile('events.jsonl').path, published)
  stack.defer(() => bus.close())
  const provideAll = () => {
    const ends = [
      provide<OpenKeys>(SIGNING_KEYS, keys.open),
      provide<LocalSecrets>(SECRETS, secrets),
      provide<OpenBus>(EVENT_BUS, () => bus),
    ]
    return () => {
      for (const end of ends) end()
    }
  }
  stack.defer(provideAll())
  return { keys, secrets, provide: provideAll }
}
