/**
 * Makes the parts of the server with which access keys are authenticated and their scopes evaluated. The authorizer has
 * nothing else, so it loads no kinds and no clients of virtual clusters.
 */
import { randomUUID } from 'node:crypto'
import type { LifeLimits } from '../authentication/keystatus.ts'
import { createPeppers, type KeyHash } from '../authentication/pepper.ts'
import type { ScopeOptions } from '../authorization/scopes/project.ts'
import { parseSpaceNamespace, type SpaceOptions } from '../authorization/scopes/space.ts'
import { connectSecrets, createSecrets, type Secrets } from '../kubeconfig/secrets.ts'
import { connectTable } from '../storage/dynamodb/client.ts'
import { createStorage } from '../storage/dynamodb/dynamodb.ts'
import type { Storage } from '../storage/interface.ts'
import type { Environment } from './process/environment.ts'
import { lazy } from './process/lazy.ts'
import { meter } from './process/metrics.ts'
import { createMinimalServer, type MinimalServer } from './process/minimal.ts'

export interface AuthenticatingServer extends MinimalServer {
  scopes: ScopeOptions & SpaceOptions
  storage: Storage
  secrets: Secrets
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
  recordSources: boolean
}

/** Two attempts of one second each. After that the storage package retries, well before a handler times out. */
const clientSettings = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 500, requestTimeout: 1000, throwOnRequestTimeout: true },
}

/** Returns the parts for an environment. It connects and reads nothing before the first use. */
export function createAuthenticatingServer(environment: Environment): AuthenticatingServer {
  const minimal = createMinimalServer(environment)
  const { config, log, now, sleep, elapsed } = minimal
  const storage = lazy(() =>
    createStorage({
      client: meter(connectTable({ ...clientSettings, uuid: randomUUID }), 'storage'),
      table: config.tableName,
      now: Date.now,
      elapsed,
      random: Math.random,
      sleep,
    }),
  )
  const connectedSecrets = lazy(async () => meter(await connectSecrets(), 'secrets'))
  const secrets = lazy(() => createSecrets(connectedSecrets, Date.now))
  const peppers = lazy(() =>
    createPeppers({ getSecret: (stage) => secrets().get(config.pepperSecretId, stage), now: Date.now }),
  )
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
