/**
 * Composes the server: everything that the handlers need, created once per process from the environment. Each part is
 * created on first use. Only this package provides clocks, randomness, clients and the environment.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attributes } from '../access/attributes/attributes.ts'
import { belowBase } from '../access/attributes/requestattributes.ts'
import { refuseByScope } from '../access/scoperefusal.ts'
import { formatPlace, type Place } from '../access/scopes/place.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import type { SpaceOptions } from '../access/scopes/space.ts'
import { scopeWarnings } from '../access/scopewarnings.ts'
import { createClusterClient } from '../clusters/cluster/client.ts'
import { isVirtual } from '../clusters/serviceaccounts/target.ts'
import type { ClusterServices } from '../clusters/services.ts'
import type { IssuerSettings } from '../clusters/token/issuer.ts'
import { checkIssuer } from '../clusters/token/jwks.ts'
import { VirtualClusterInstance } from '../clusters/virtualclusterinstance.ts'
import type { EndpointServices } from '../engine/endpoints/call.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import { credentialChanged } from '../engine/meta/errors/status.ts'
import { defined } from '../engine/meta/value/defined.ts'
import type { ResourceAttributes } from '../engine/registry/attributes.ts'
import type { RequestContext, StoredKind } from '../engine/registry/kind.ts'
import { objectKey, type Store } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { getCompanion } from '../engine/storage/readcompanions.ts'
import { table as providerTable } from '../federation/identityprovider.values.ts'
import { toProvider } from '../federation/provider.ts'
import type { FederationServices } from '../federation/services.ts'
import { generateAccessKey } from '../keys/credential/accesskey.ts'
import { credentialItemKey } from '../keys/credential/credential.ts'
import { endOfGates, findClosedGate, gateKeys } from '../keys/credential/gates.ts'
import { decodeKeyInternal, firstTokens } from '../keys/credential/keyinternal.ts'
import type { KeyHash } from '../keys/credential/pepper.ts'
import { endOfPart } from '../keys/credential/targetkeys.ts'
import { lifeAt } from '../keys/ownedaccesskey.status.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import { scopesOf } from '../keys/ownedaccesskey.values.ts'
import { admit, confirmedBefore } from '../keys/requests/admit.ts'
import { authenticate } from '../keys/requests/authenticate.ts'
import { type Judgement, judge } from '../keys/values/judge.ts'
import type { AccessReviewServices, ReviewServices, SelfServices } from '../reviews/reviewservices.ts'
import { type AuthenticatingServer, createAuthenticatingServer } from './authenticating.ts'
import { admitting, authenticationDeps, judgeDeps } from './authentication.ts'
import { boundRecords } from './boundrecords.ts'
import { type Decider, decide } from './decide.ts'
import { eksOf } from './eks.ts'
import { storeOf } from './kindstores.ts'
import { watchCounter } from './openwatches.ts'
import type { Environment } from './process/environment.ts'
import { lazy, type Makers, withParts } from './process/lazy.ts'

export interface Server
  extends AuthenticatingServer,
    AccessReviewServices,
    ClusterServices,
    FederationServices,
    ReviewServices,
    SelfServices,
    EndpointServices,
    Decider<Server> {
  scopes: ScopeOptions & SpaceOptions
  storeOf<I>(kind: StoredKind<Server, I>): Store<I>
  /**
   * Returns the key, or undefined if it is deleted, invalid, or another key of the same name. The key of an exchange is
   * invalid when one of its gates is closed.
   */
  livingKey(key: { name: string; uid: string }): Promise<Stored | undefined>
}

/** The parts of the server that settings decide. */
type Parts = Pick<
  Server,
  'keys' | 'federation' | 'tokens' | 'kubeConfigs' | 'serviceAccounts' | 'clustersRole' | 'issuer' | 'watchLimits'
>

function partsOf(environment: Environment, base: AuthenticatingServer, livingKey: Server['livingKey']): Makers<Parts> {
  const { config } = base
  const settings = lazy(
    (): IssuerSettings => ({
      issuer: checkIssuer(config.issuer),
      maxSeconds: config.maxTokenTtlSeconds,
      projectNamespacePrefix: config.projectNamespacePrefix,
      uuid: randomUUID,
    }),
  )
  return {
    keys: () => ({
      generate: () => generateAccessKey(randomBytes),
      hashes: base.hashes,
      readCredential: async (hash) => {
        const { pk, sk } = credentialItemKey(hash)
        return (await getCompanion(base.storage, { pk, sk }))?.attributes
      },
      readCredentials: async (all) =>
        (await base.storage.getCompanions(all.map(credentialItemKey))).map((item) => item?.attributes),
      limits: base.limits,
      retentionSeconds: config.keyRetentionSeconds,
      recordSources: base.recordSources,
      maxPerOwner: config.maxKeysPerOwner,
    }),
    federation() {
      const { issuer, apiUrl, allowPrivateIssuers: allowPrivate, maxKeyTtlSeconds, maxExchangeTtlSeconds } = config
      const maxTtl = Math.min(maxExchangeTtlSeconds, maxKeyTtlSeconds || maxExchangeTtlSeconds)
      return { issuer, own: [issuer, apiUrl], allowPrivate, maxTtl }
    },
    tokens: () => ({ settings: settings(), signer: base.signer }),
    kubeConfigs: () => ({
      ...base.scopes,
      secrets: base.secrets,
      // A getter, because functions for connected clusters do not have this variable.
      get secretPrefix() {
        return config.virtualClusterSecretsPrefix
      },
      limits: {
        maxTokenSeconds: config.maxTokenTtlSeconds,
        ...(config.maxCertificateTtlSeconds > 0 && { maxCertificateSeconds: config.maxCertificateTtlSeconds }),
      },
      issuer: settings().issuer,
      signer: base.signer,
      connect: createClusterClient,
      clock: base.now,
      uuid: randomUUID,
      deadline: (ms) => AbortSignal.timeout(ms),
      sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
    }),
    serviceAccounts: () => ({
      ...base.scopes,
      secrets: base.secrets,
      // Functions have the variables of what they reach only.
      secretPrefix: (place) => (isVirtual(place) ? config.virtualClusterSecretsPrefix : config.clusterSecretsPrefix),
      records: boundRecords({
        storage: base.storage,
        limits: base.limits,
        now: base.now,
        elapsed: base.elapsed,
        livingKey,
      }),
      connect: createClusterClient,
      uuid: randomUUID,
      deadline: (ms) => AbortSignal.timeout(ms),
      eks: eksOf(environment, config.clustersRoleArn, base.now),
    }),
    clustersRole: () => config.clustersRoleArn,
    issuer: () => settings().issuer,
    watchLimits: () => config.watchLimits,
  }
}

/** Returns the server for an environment. It connects and reads nothing before the first use. */
export function createServer(environment: Environment): Server {
  const base = createAuthenticatingServer(environment)
  const { config, log, now } = base

  const deps = lazy(() => {
    const failed = (error: unknown) => log('error', 'last activity not written', { error: describeError(error) })
    return authenticationDeps(server, failed)
  })
  /** Admits something that a request does besides. The server's own users present no key, so nothing of them is recorded. */
  const admitBeside = ({ user }: Pick<RequestContext, 'user'>, attributes: Attributes) =>
    admit({ user }, { attributes, isRecorded: user.credential !== undefined }, 'further', confirmedBefore(base))
  const checkAllowed = async (context: RequestContext, asked: ResourceAttributes): Promise<void> => {
    const attributes: Attributes = { target: { type: 'Management' }, ...asked }
    const { decision } = await admitBeside(context, attributes)
    if (decision.allowed) return
    const { reason, error } = refuseByScope(attributes, context.user, decision, base.scopes)
    context.note('denied', reason)
    throw error
  }
  const livingKey: Server['livingKey'] = async (key) => (await livingKeyAndGates(key))?.stored
  /** Returns the key as `livingKey`, and the gates of a key of an exchange. With a place, its token there must not be ended. */
  async function livingKeyAndGates({ name, uid }: { name: string; uid: string }, place?: Place) {
    const stored = await base.storage.get(OwnedAccessKey.table, name)
    if (!stored || stored.object.metadata.uid !== uid) return undefined
    if (lifeAt(server.keys, stored, now()).state !== 'Active') return undefined
    const internal = decodeKeyInternal(stored.internal)
    const { federation } = internal
    if (!federation) return { stored, gates: [] }
    const part = place && endOfPart(internal, formatPlace(place))
    const [trust, provider, ended] = await base.storage.getCompanions([
      ...gateKeys(federation),
      ...(part ? [part] : []),
    ])
    const gates = [trust, provider]
    return ended || findClosedGate(federation, gates) !== undefined ? undefined : { stored, gates }
  }
  async function judgeValue(hash: KeyHash): Promise<Judgement> {
    const deps = judgeDeps({ storage: base.storage, limits: base.limits })
    return judge(hash, (await deps.readCredential([hash]))?.item, deps)
  }
  const own: Omit<Server, keyof AuthenticatingServer | keyof Parts> = {
    // Lazy: the other kinds are 40 KiB, and only reviews ask about them.
    storedKinds: async () => (await import('./storedkinds.ts')).storedKinds,
    async provider(name) {
      const stored = await base.storage.get(providerTable, name)
      return stored && toProvider(stored)
    },
    decide: (context, attributes) => decide(server, context, attributes),
    checkAllowed,
    async used(context, attributes) {
      await admitBeside(context, attributes)
    },
    async checkKeyHolds(context) {
      const current = await server.currentGeneration(context)
      const generation = server.allowedGeneration(context) ?? current
      if (current === undefined || current !== generation) throw credentialChanged()
    },
    storeOf: (kind) => storeOf(kind, server),
    keyStore: () => server.storeOf(OwnedAccessKey),
    authenticate(token, { writes } = { writes: true }) {
      return authenticate(token, writes ? deps() : { ...deps(), signal: async () => {} })
    },
    admit: (living, asked, purpose) => admit(living, asked, purpose, admitting(server, deps())),
    openWatch: (context) =>
      watchCounter({ storage: base.storage, most: config.watchesPerKey, now: Date.now, uuid: randomUUID })(context),
    async currentGeneration({ user: { key, credential, federation } }) {
      if (credential === undefined) {
        const stored = await livingKey(key)
        return stored && (stored.object.metadata.generation ?? 0)
      }
      const judged = await judgeValue(credential)
      if (!('credential' in judged) || judged.credential.uid !== key.uid) return undefined
      // A gate that is open again was closed meanwhile: what began before has ended.
      if (federation && judged.lastEnd !== key.lastEnd) return undefined
      return judged.credential.generation ?? 0
    },
    allowedGeneration: ({ user }) => user.key.generation,
    explain: scopeWarnings,
    async reviewedKey(key, place) {
      const found = await livingKeyAndGates(key, place)
      if (found === undefined) return undefined
      const { stored, gates } = found
      const { generation } = stored.object.metadata
      const tokensNotBefore = Math.max(firstTokens(decodeKeyInternal(stored.internal)), endOfGates(gates) + 1)
      return { chain: scopesOf(stored), tokensNotBefore, ...defined({ generation }) }
    },
    livingKey,
    judgeValue,
    pathBelowBase: (path) => belowBase(path, config.basePath),
    async instanceUid({ namespace, name }) {
      const stored = await base.storage.get(VirtualClusterInstance.table, objectKey(namespace, name))
      return stored?.object.metadata.uid
    },
    every(ms, act) {
      const timer = setInterval(act, ms).unref()
      return () => clearInterval(timer)
    },
  }
  const server: Server = withParts(base, own, partsOf(environment, base, livingKey))
  return server
}
