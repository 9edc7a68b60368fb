/**
 * Composes the server: everything that the handlers need, created once per process from the environment. Each part is
 * created on first use. Only this package provides clocks, randomness, clients and the environment.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReviewServices } from '../apis/authorization/v1/reviewservices.ts'
import { lifeAt } from '../apis/management/v1/ownedaccesskey.status.ts'
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import { scopesOf } from '../apis/management/v1/ownedaccesskey.values.ts'
import type { Services } from '../apis/management/v1/services.ts'
import { VirtualClusterInstance } from '../apis/management/v1/virtualclusterinstance.ts'
import { generateAccessKey } from '../authentication/accesskey.ts'
import { authenticate } from '../authentication/authenticate.ts'
import { credentialItemKey } from '../authentication/credential.ts'
import { findClosedGate } from '../authentication/federation.ts'
import { decodeKeyInternal } from '../authentication/keyinternal.ts'
import type { LifeLimits } from '../authentication/keystatus.ts'
import { createPeppers, type KeyHash } from '../authentication/pepper.ts'
import type { Attributes } from '../authorization/attributes/attributes.ts'
import { forbiddenByScope } from '../authorization/narrowest.ts'
import { evaluate } from '../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../authorization/scopes/project.ts'
import { parseSpaceNamespace, type SpaceOptions } from '../authorization/scopes/space.ts'
import type { EndpointServices } from '../endpoints/call.ts'
import { createClusterClient } from '../kubeconfig/cluster/client.ts'
import type { KubeConfigServices } from '../kubeconfig/kubeconfig.ts'
import { connectSecrets, createSecrets, type Secrets } from '../kubeconfig/secrets.ts'
import { keyChanged } from '../meta/errors/status.ts'
import { groupResource, type RequestContext, type StoredKind } from '../registry/kind.ts'
import { getObject } from '../registry/read.ts'
import { objectKey, type Store } from '../registry/store.ts'
import { connectTable } from '../storage/dynamodb/client.ts'
import { createStorage } from '../storage/dynamodb/dynamodb.ts'
import type { Storage } from '../storage/interface.ts'
import type { IssuerSettings } from '../token/issuer.ts'
import { checkIssuer } from '../token/jwks.ts'
import { authenticationDeps } from './authentication.ts'
import { type Decider, decide } from './decide.ts'
import { storedKinds } from './kinds.ts'
import { watchCounter } from './openwatches.ts'
import type { Environment } from './process/environment.ts'
import { lazy } from './process/lazy.ts'
import { describeError } from './process/logger.ts'
import { meter } from './process/metrics.ts'
import { createMinimalServer, type MinimalServer } from './process/minimal.ts'
import { storeOf } from './stores.ts'

export interface Server extends MinimalServer, Services, ReviewServices, EndpointServices, Decider<Server> {
  scopes: ScopeOptions & SpaceOptions
  storage: Storage
  secrets: Secrets
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
  storeOf(kind: StoredKind<Server>): Store
}

/** Two attempts of one second each. After that the storage package retries, well before a handler times out. */
const clientSettings = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 500, requestTimeout: 1000, throwOnRequestTimeout: true },
}

/** Returns the server for an environment. It connects and reads nothing before the first use. */
export function createServer(environment: Environment): Server {
  const minimal = createMinimalServer(environment)
  const { config, log, now } = minimal
  const storage = lazy(() =>
    createStorage({
      client: meter(connectTable({ ...clientSettings, uuid: randomUUID }), 'storage'),
      table: config.tableName,
      now: Date.now,
      elapsed: () => performance.now(),
      random: Math.random,
      sleep: (ms) => delay(ms),
    }),
  )
  const connectedSecrets = lazy(async () => meter(await connectSecrets(), 'secrets'))
  const secrets = lazy(() => createSecrets(connectedSecrets, Date.now))
  const peppers = lazy(() =>
    createPeppers({ getSecret: (stage) => secrets().get(config.pepperSecretId, stage), now: Date.now }),
  )
  const limits = (): LifeLimits => (config.maxKeyTtlSeconds > 0 ? { maxTtl: config.maxKeyTtlSeconds } : {})
  const scopes = lazy(() => ({
    projectNamespacePrefix: config.projectNamespacePrefix,
    spaceNamespace: parseSpaceNamespace(config.spaceNamespace),
  }))

  const checkChain = (context: RequestContext, attributes: Attributes): void => {
    const decision = evaluate(context.user.chain, attributes, scopes())
    if (decision.allowed) return
    context.note('denied', decision.reason)
    throw forbiddenByScope(attributes, context.user, decision.reason, scopes())
  }
  const settings = lazy(
    (): IssuerSettings => ({
      issuer: checkIssuer(config.issuer),
      maxSeconds: config.maxTokenTtlSeconds,
      uuid: randomUUID,
    }),
  )
  const kubeConfigs = lazy(
    (): KubeConfigServices => ({
      ...scopes(),
      secrets: secrets(),
      secretPrefix: config.virtualClusterSecretsPrefix,
      resource: groupResource(VirtualClusterInstance),
      limits: {
        maxTokenSeconds: config.maxTokenTtlSeconds,
        ...(config.maxCertificateTtlSeconds > 0 && { maxCertificateSeconds: config.maxCertificateTtlSeconds }),
      },
      issuer: settings().issuer,
      signer: minimal.signer,
      connect: createClusterClient,
      clock: now,
      uuid: randomUUID,
      deadline: (ms) => AbortSignal.timeout(ms),
      sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
    }),
  )

  /**
   * Returns the key, or undefined if it is deleted, invalid, or another key of the same name. The key of an exchange is
   * invalid when one of its gates is closed.
   */
  async function livingKey({ name, uid }: { name: string; uid: string }) {
    const stored = await storage().get(OwnedAccessKey.table, name)
    if (!stored || stored.object.metadata.uid !== uid) return undefined
    if (lifeAt(server.keys, stored, now()).state !== 'Active') return undefined
    const { federation } = decodeKeyInternal(stored.internal)
    const closed = federation && (await findClosedGate(federation, (keys) => storage().getCompanions(keys)))
    return closed === undefined ? stored : undefined
  }
  const server: Server = {
    config,
    storedKinds,
    log,
    now,
    get storage() {
      return storage()
    },
    get secrets() {
      return secrets()
    },
    get signer() {
      return minimal.signer
    },
    get scopes() {
      return scopes()
    },
    get limits() {
      return limits()
    },
    hashes: (key) => peppers().hashes(key),
    get keys() {
      return {
        generate: () => generateAccessKey(randomBytes),
        hashes: (key: string) => peppers().hashes(key),
        readCredential: async (hash: KeyHash) => {
          const { pk, sk } = credentialItemKey(hash)
          return (await storage().getCompanion(pk, sk))?.attributes
        },
        limits: limits(),
        maxPerOwner: config.maxKeysPerOwner,
      }
    },
    get tokens() {
      return { settings: settings(), signer: minimal.signer }
    },
    get kubeConfigs() {
      return kubeConfigs()
    },
    decide: (context, attributes) => decide(server, context, attributes),
    checkChain,
    async checkKeyHolds(context) {
      const current = await server.keyGeneration(context)
      const { generation = current } = context.user.key
      if (current === undefined || current !== generation) throw keyChanged()
    },
    instance: (reference, use, context) =>
      getObject(server.storeOf(VirtualClusterInstance), { ...reference, ...use }, context),
    storeOf: (kind) => storeOf(kind, server),
    get issuer() {
      return settings().issuer
    },
    authenticate(token) {
      const touchFailed = (error: unknown) => log('error', 'last activity not written', { error: describeError(error) })
      return authenticate(token, authenticationDeps(server, touchFailed))
    },
    get watchLimits() {
      return config.watchLimits
    },
    openWatch: (context) =>
      watchCounter({ storage: storage(), most: config.watchesPerKey, now: Date.now, uuid: randomUUID })(context),
    async keyGeneration({ user }) {
      const stored = await livingKey(user.key)
      return stored && (stored.object.metadata.generation ?? 0)
    },
    async keyChain(key) {
      const stored = await livingKey(key)
      return stored && scopesOf(stored)
    },
    async instanceUid({ namespace, name }) {
      const stored = await storage().get(VirtualClusterInstance.table, objectKey(namespace, name))
      return stored?.object.metadata.uid
    },
    sleep: minimal.sleep,
    every(ms, act) {
      const timer = setInterval(act, ms).unref()
      return () => clearInterval(timer)
    },
    elapsed: minimal.elapsed,
  }
  return server
}
