/**
 * Makes the parts of the server with which access keys are authenticated and their scopes evaluated. The authorizer has
 * nothing else, so it loads no kinds and no clients of virtual clusters.
 */
import { openTexts } from '#secret-texts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { parseSpaceNamespace, type SpaceOptions } from '../access/scopes/space.ts'
import { createSecrets, type Secrets } from '../clusters/secrets.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import type { Storage } from '../engine/storage/interface.ts'
import type { LifeLimits } from '../keys/credential/keystatus.ts'
import { createPeppers, type KeyHash } from '../keys/credential/pepper.ts'
import { createUsageRecorder, noUsage, type UsageRecorder } from '../keys/usage/recorder.ts'
import { openStore } from './openstore.ts'
import type { Environment } from './process/environment.ts'
import { lazy, withParts } from './process/lazy.ts'
import { countCall } from './process/metrics.ts'
import { createMinimalServer, type MinimalServer } from './process/minimal.ts'

export interface AuthenticatingServer extends MinimalServer {
  scopes: ScopeOptions & SpaceOptions
  storage: Storage
  secrets: Secrets
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
  recordSources: boolean
  recordUsage: boolean
  usage: UsageRecorder
}

/** Returns the parts for an environment. It connects and reads nothing before the first use. */
export function createAuthenticatingServer(environment: Environment): AuthenticatingServer {
  const minimal = createMinimalServer(environment)
  const { config } = minimal
  const texts = lazy(() => openTexts(() => countCall('secrets')))
  const server: AuthenticatingServer = withParts(
    minimal,
    {},
    {
      storage: openStore(environment, minimal),
      secrets: () => createSecrets(texts, Date.now),
      scopes: () => ({
        projectNamespacePrefix: config.projectNamespacePrefix,
        spaceNamespace: parseSpaceNamespace(config.spaceNamespace),
      }),
      hashes: () =>
        createPeppers({ getSecret: () => server.secrets.read(config.pepperSecretId), now: Date.now }).hashes,
      limits: () => (config.maxKeyTtlSeconds > 0 ? { maxTtl: config.maxKeyTtlSeconds } : {}),
      recordSources: () => config.recordSources,
      recordUsage: () => config.recordUsage,
      usage: () =>
        config.recordUsage
          ? createUsageRecorder({
              storage: server.storage,
              scopes: server.scopes,
              now: Date.now,
              failed: (error) => server.log('error', 'usage not recorded', { error: describeError(error) }),
            })
          : noUsage,
    },
  )
  return server
}
