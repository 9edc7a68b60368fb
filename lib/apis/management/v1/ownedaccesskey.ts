/** OwnedAccessKey: a credential for non-interactive use, presented as a bearer token. Specification section 2.3. */
import { checkFormat, duplicateKey } from '../../../authentication/accesskey.ts'
import {
  absentCredentials,
  createdCredential,
  deletedCredential,
  rotatedCredential,
  type Sealed,
  updatedCredential,
} from '../../../authentication/credential.ts'
import { readInternal, writeInternal } from '../../../authentication/keyinternal.ts'
import { keyStatus } from '../../../authentication/keystatus.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import type { UserInfo } from '../../../authentication/user.ts'
import { validateChain } from '../../../authorization/chain.ts'
import { evaluate } from '../../../authorization/evaluate.ts'
import {
  effectiveUser,
  identityOf,
  isMaster,
  type Key,
  type KeySpec,
  keyIdentity,
  MASTERS,
  ownsKey,
} from '../../../authorization/identity.ts'
import {
  chainAfterChange,
  effectiveChain,
  forbiddenChange,
  forbiddenCreation,
  inheritedChain,
  maySeeKey,
  visiblePartitions,
} from '../../../authorization/privilege.ts'
import type { ScopeChain } from '../../../authorization/scope.ts'
import { validateIdentity } from '../../../authorization/validateidentity.ts'
import { validateScope } from '../../../authorization/validatescope.ts'
import { deepEqual } from '../../../meta/equal.ts'
import { forbiddenResource, invalidObject } from '../../../meta/errors.ts'
import { type FieldError, invalid } from '../../../meta/field.ts'
import { rfc3339 } from '../../../meta/time.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import type { Draft, RequestContext, Secret, StoredKind, Strategy } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import { group, version } from './group.ts'
import { columns } from './ownedaccesskey.columns.ts'
import { spec, status } from './ownedaccesskey.schema.ts'
import type { Services } from './services.ts'

const kind = 'OwnedAccessKey'
const plural = 'ownedaccesskeys'
const resource = { group, resource: plural }
const keyPath = ['spec', 'key']

const isKey = ({ path }: Secret): boolean => path.join('.') === keyPath.join('.')

/** The key that a request supplies. */
const suppliedKey = (secrets: readonly Secret[]): string | undefined => {
  const value = secrets.find(isKey)?.value
  return typeof value === 'string' ? value : undefined
}

/** The other write-only values, by their path below spec. */
const sealedOf = (secrets: readonly Secret[]): Sealed =>
  Object.fromEntries(
    secrets
      .filter((secret) => !isKey(secret) && typeof secret.value === 'string')
      .map(({ path, value }) => [path.slice(1).join('.'), value as string]),
  )

const specOf = ({ spec }: KubeObject): KeySpec => (spec ?? {}) as KeySpec

function keyOf({ object, internal }: Pick<Stored, 'object' | 'internal'>): Key {
  const { creator, carried } = readInternal(internal)
  return { uid: object.metadata.uid ?? '', spec: specOf(object), creator, carried }
}

/** The scopes that a request with this key must pass. */
export const scopesOf = (stored: Stored): ScopeChain => effectiveChain(keyOf(stored))

const seconds = (time: string | undefined): number => Math.floor(Date.parse(time ?? '') / 1000)
const sameHash = (one: KeyHash, other: KeyHash): boolean => one.version === other.version && one.hash === other.hash

/** Whether anything of the key's spec is about to change, the values that nobody sees included. */
const changesSpec = (draft: Draft, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(draft.object.spec ?? {}, old.object.spec ?? {})

/** Moves on what the credential and the inherited scopes are when a request changes the key. */
async function prepareForUpdate(
  services: Services,
  draft: Draft,
  old: Stored,
  { user, note }: RequestContext,
): Promise<void> {
  const { keys } = services
  const internal = readInternal(old.internal)
  const supplied = suppliedKey(draft.secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const rotated = hashes[0] !== undefined && !hashes.some((hash) => sameHash(hash, internal.credential))
  if (rotated) note('credential', 'access key')
  const sealed = Object.entries(sealedOf(draft.secrets))
  const stored = sealed.length > 0 ? ((await keys.readCredential(internal.credential)) ?? {}) : {}
  if (rotated || sealed.some(([path, value]) => stored[`sealed:${path}`] !== value)) draft.specChanged = true
  const carried = changesSpec(draft, old) ? chainAfterChange(user, keyOf(old), specOf(draft.object)) : internal.carried
  draft.internal = writeInternal({
    ...internal,
    carried,
    ...(rotated && hashes[0] && { credential: hashes[0] }),
  })
}

/** A ttl above a maximum that was lowered since may stay: the maximum binds it anyway, and finalizers must still come off. */
function validate({ keys }: Services, { object, internal, secrets }: Draft, old: Stored | undefined): FieldError[] {
  const key = specOf(object)
  const { maxTtl } = keys.limits
  const isNewTtl = !old || key.ttl !== specOf(old.object).ttl
  const supplied = suppliedKey(secrets)
  return [
    ...validateIdentity(key),
    ...validateScope(key.scope),
    ...validateChain(effectiveChain({ spec: key, carried: readInternal(internal).carried })),
    ...(maxTtl && key.ttl && key.ttl > maxTtl && isNewTtl
      ? [invalid('spec.ttl', key.ttl, `must not be more than the maximum of ${maxTtl} seconds`)]
      : []),
    ...(supplied === undefined ? [] : checkFormat(supplied)),
  ]
}

/**
 * Throws 422 where another key has the supplied value, as a dry run, which writes nothing, must learn it too. The write is
 * guarded by the hash under which the key lies, and by what is returned: the value may also lie, or come to lie at the
 * same time, under the hash of another pepper.
 */
async function demandUnused(
  { keys }: Services,
  { object, internal, secrets }: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] },
): Promise<Companion[]> {
  const supplied = suppliedKey(secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const found = await Promise.all(hashes.map((hash) => keys.readCredential(hash)))
  if (found.some((one) => one !== undefined)) {
    throw invalidObject(group, kind, object.metadata.name ?? '', [duplicateKey()])
  }
  const { credential } = readInternal(internal)
  return absentCredentials(hashes.filter((hash) => !sameHash(hash, credential)))
}

/** What of the object its credential repeats: unchanged, the credential need not be written. */
const credentialParts = ({ object, internal }: Pick<Stored, 'object' | 'internal'>) => ({
  spec: object.spec ?? {},
  deleted: object.metadata.deletionTimestamp !== undefined,
  internal,
})

/** The object with what is computed on reads: who owns it, whether it gives access, until when. */
function present({ keys }: Services, stored: Stored, now: Date): KubeObject {
  const { object, activity } = stored
  const key = keyOf(stored)
  const written = object.status?.lastActivity
  const lastActivity = activity === undefined ? undefined : rfc3339(new Date(activity))
  const latest = [written, lastActivity]
    .filter((one) => typeof one === 'string')
    .sort((a, b) => seconds(b) - seconds(a))[0]
  const { state, expires } = keyStatus(
    {
      created: seconds(object.metadata.creationTimestamp),
      ...(activity !== undefined && { lastActivity: Math.floor(activity / 1000) }),
      ...(key.spec.ttl && { ttl: Number(key.spec.ttl) }),
      ttlAfterLastActivity: key.spec.ttlAfterLastActivity === true,
      disabled: key.spec.disabled === true,
      deleted: object.metadata.deletionTimestamp !== undefined,
    },
    Math.floor(now.getTime() / 1000),
    keys.limits,
  )
  const computed: JsonObject = {
    ...(latest !== undefined && { lastActivity: latest }),
    owner: effectiveUser(key).name,
    phase: state,
    ...(expires !== undefined && { expirationTimestamp: rfc3339(new Date(expires * 1000)) }),
  }
  return { ...object, status: { ...object.status, ...computed } }
}

function strategy(services: Services): Strategy {
  const { keys, scopes } = services
  /** A role may leave the holder only their own keys, whatever their groups. */
  const ownOnly = (user: UserInfo, verb: string): boolean => {
    const attributes = {
      kind: 'resource',
      target: { type: 'Management' },
      verb,
      group,
      resource: plural,
      subresource: '',
      name: '',
      namespace: '',
    } as const
    const decision = evaluate(user.chain, attributes, scopes)
    return decision.allowed && decision.own === true
  }
  return {
    mayCreate: () => ({ type: 'allowed' }),
    access(stored, verb, subresource, user) {
      if (!maySeeKey(user, keyOf(stored), ownOnly(user, verb))) return { type: 'hidden' }
      const rule = ownsKey(user, keyOf(stored)) ? 'own access key' : MASTERS
      if (subresource === '' || verb === 'get' || isMaster(user)) return { type: 'allowed', rule }
      return { type: 'denied', reason: 'only system:masters may write the status of access keys' }
    },
    partitions: (user, verb) => visiblePartitions(user, ownOnly(user, verb)),
    async prepareForCreate(draft, { user, note }) {
      const key = suppliedKey(draft.secrets) ?? keys.generate()
      const [credential] = await keys.hashes(key)
      if (!credential) throw new Error('no pepper is there to hash access keys with')
      draft.internal = writeInternal({ creator: identityOf(user), carried: inheritedChain(user), credential })
      draft.reveal = [{ path: keyPath, value: key }]
      note('credential', 'access key')
    },
    prepareForUpdate: (draft, old, context) => prepareForUpdate(services, draft, old, context),
    validate: (draft, old) => validate(services, draft, old),
    authorize(draft, old, { user, now }) {
      const next = specOf(draft.object)
      const changes = old !== undefined && changesSpec(draft, old)
      const reason = old ? changes && forbiddenChange(user, keyOf(old), next) : forbiddenCreation(user, next, now)
      if (reason) throw forbiddenResource(resource, draft.object.metadata.name ?? '', reason)
    },
    async companions(after, before) {
      if (!after) return before ? deletedCredential(before) : []
      const sealed = sealedOf(after.secrets)
      if (!before) {
        const unused = await demandUnused(services, after)
        return [...createdCredential(after, sealed, keys.limits), ...unused]
      }
      const from = readInternal(before.internal).credential
      const to = readInternal(after.internal).credential
      if (!sameHash(from, to)) {
        const unused = await demandUnused(services, after)
        const old = (await keys.readCredential(from)) ?? {}
        return [...rotatedCredential(after, from, old, sealed, keys.limits), ...unused]
      }
      const unchanged = Object.keys(sealed).length === 0 && deepEqual(credentialParts(after), credentialParts(before))
      const activity = before.activity === undefined ? undefined : Math.floor(before.activity / 1000)
      return unchanged ? [] : updatedCredential(after, sealed, keys.limits, activity)
    },
    companionExists: () => duplicateKey(),
    present: (stored, now) => present(services, stored, now),
  }
}

export const OwnedAccessKey: StoredKind<Services> = {
  archetype: 'stored',
  group,
  version,
  kind,
  plural,
  singular: 'ownedaccesskey',
  scope: 'Cluster',
  description: 'A credential for non-interactive use, such as CI jobs, presented as a bearer token.',
  schema: { spec, status },
  table: { resource: plural, partitions: (stored) => [keyIdentity(keyOf(stored))], activity: true },
  columns,
  fields: {
    'spec.user': ({ spec }) => String(spec?.user ?? ''),
    'spec.team': ({ spec }) => String(spec?.team ?? ''),
    'spec.type': ({ spec }) => String(spec?.type ?? ''),
    'spec.disabled': ({ spec }) => String(spec?.disabled ?? false),
  },
  strategy,
}
