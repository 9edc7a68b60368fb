/**
 * Makes the parts of the server with which access keys are authenticated and their scopes evaluated. The authorizer has
 * nothing else, so it loads no kinds and no clients of virtual clusters.
 */
import type { LifeLimits } from '../authentication/keystatus.ts'
import { createPeppers, type KeyHash } from '../authentication/pepper.ts'
import type { ScopeOptions } from '../authorization/scopes/project.ts'
import { parseSpaceNamespace, type SpaceOptions } from '../authorization/scopes/space.ts'
import { connectSecrets, createSecrets, type Secrets } from '../kubeconfig/secrets.ts'
import type { Storage } from '../storage/interface.ts'
import type { Environment } from './process/environment.ts'
import { lazy } from './process/lazy.ts'
import { meter } from './process/metrics.ts'
import { createMinimalServer, type MinimalServer } from './process/minimal.ts'
import { openStore } from './store.ts'

export interface AuthenticatingServer extends MinimalServer {
  scopes: ScopeOptions & SpaceOptions
  storage: Storage
  secrets: Secrets
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
  recordSources: boolean
}

/** Returns the parts for an environment. It connects and reads nothing before the first use. */
export function createAuthenticatingServer(environment: Environment): AuthenticatingServer {
  const minimal = createMinimalServer(environment)
  const { config, log, now, sleep, elapsed } = minimal
  const storage = openStore(environment, minimal)
  const connectedSecrets = lazy(async () => meter(await connectSecrets(), 'secrets'))
  const secrets = lazy(() => createSecrets(connectedSecrets, Date.now))
  const peppers = lazy(() => createPeppers({ getSecret: () => secrets().read(config.pepperSecretId), now: Date.now }))
  const scopes = lazy(() => ({
    projectNamespacePrefix: config.projectNamespacePrefix,
    spaceNamespace: parseSpaceNamespace(config.spaceNamespace),
  }))
  return {
    config,
    log,
    now,
    sleep,
    elapsed,
    get signer() {
      return minimal.signer
    },
    get storage() {
      return storage()
    },
    get secrets() {
      return secrets()
    },
    get scopes() {
      return scopes()
    },
    get limits() {
      return config.maxKeyTtlSeconds > 0 ? { maxTtl: config.maxKeyTtlSeconds } : {}
    },
    get recordSources() {
      return config.recordSources
    },
    hashes: (key) => peppers().hashes(key),
  }
}
