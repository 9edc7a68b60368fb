/**
 * Stores the kube configs that `npm run local-secret` is given, in a file beside that of the server's own secrets. Only the command writes
 * it, and the server reads it each time, so that neither has to know whether the other one runs.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { takeLock } from '../../exclusive.ts'
import { StartupError } from '../host/startuperror.ts'
import { openSecretStore, type SecretStore } from './secrets.ts'

/** What the names of the secrets begin with, as those of a deployment with the stage `local`. */
export const SECRETS = 'keyplane/local/'
export const CLUSTER_SECRETS = `${SECRETS}virtualclusters/`
export const CONNECTED_SECRETS = `${SECRETS}clusters/`

/** The name of the file in the data folder. */
export const CLUSTER_SECRETS_FILE = 'clustersecrets.json'

/** How long a command waits for another one. */
const [pause, most] = [50, 5_000]

/** Returns secrets among which those of clusters are first looked for in the file. Without a path, there are only its own. */
export function withClusterSecrets(own: SecretStore, path: string | undefined): SecretStore {
  if (path === undefined) return own
  const isOfCluster = (id: string) => [CLUSTER_SECRETS, CONNECTED_SECRETS].some((prefix) => id.startsWith(prefix))
  return {
    ...own,
    async read(id) {
      const given = isOfCluster(id) ? await openSecretStore(path, '').then((store) => store.read(id)) : undefined
      return given ?? own.read(id)
    },
  }
}

/** Stores a text in the file. Throws a StartupError if the file is damaged, or other commands do not end, and the error of the system. */
export async function storeClusterSecret(path: string, name: string, text: string): Promise<void> {
  const unlock = await lock(`${path}.lock`)
  try {
    const { setText } = await openSecretStore(path, '')
    await setText(name, text)
  } finally {
    unlock()
  }
}

async function lock(path: string): Promise<() => void> {
  for (let waited = 0; ; waited += pause) {
    const unlock = takeLock(path)
    if (unlock) return unlock
    if (waited >= most) throw new StartupError('Another command stores a secret in this folder: run this one again.')
    await delay(pause)
  }
}
