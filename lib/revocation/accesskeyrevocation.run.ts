/** Runs a revocation: selects the keys, and the trusts if they are asked for, then disables or deletes them side by side, until they are done or the time is up. */
import { managementRequest } from '../access/attributes/attributes.ts'
import { lockoutsWarning } from '../access/users/lockout.ts'
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { byBytes } from '../engine/meta/value/byteorder.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import { objectKey } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { FederatedIdentityCredential } from '../federation/federatedidentitycredential.ts'
import { seenMaker } from '../keys/ownedaccesskey.status.ts'
import { toKey } from '../keys/ownedaccesskey.values.ts'
import type { Services } from '../keys/services.ts'
import { KINDS } from '../kinds.ts'
import { awaitClusters } from './accesskeyrevocation.clusters.ts'
import {
  concernsTrusts,
  findKeys,
  findTrusts,
  revokesTrust,
  showHints,
  warningsOf,
} from './accesskeyrevocation.find.ts'
import { createRevoker, type Outcome, RESERVE_MS, type Target } from './accesskeyrevocation.revoker.ts'
import type { RevocationSpec } from './accesskeyrevocation.schema.ts'
import { isAllowed, mayRevoke, selects, validateRevocation, verbsOf } from './accesskeyrevocation.selection.ts'

const { group, kind } = KINDS.AccessKeyRevocation

const refused = (errors: readonly FieldError[]) => invalidObject(group, kind, '', errors)

/** Revokes the selected keys. Returns the status. Throws 422 before anything is written, and 401 once the user's key ends. */
export async function revokeKeys(
  services: Services,
  asked: RevocationSpec,
  manager: string,
  context: RequestContext,
): Promise<JsonObject> {
  const { user, now, warn, note } = context
  const errors = validateRevocation(asked, now)
  if (errors.length > 0) throw refused(errors)
  const maker = asked.madeWith && (await makerOf(services, asked.madeWith, context))
  const isSelected = selects(asked, maker, now)
  const isReachable = mayRevoke(user, asked, services)
  const test: typeof isSelected = (stored) => isReachable(stored) && isSelected(stored)
  const namesakes = findNamesakes(asked, maker, context, services)
  const [trusts, found] = await Promise.all([
    targetTrusts(services, asked, maker, context),
    findKeys(
      services,
      asked,
      (stored) => {
        if (isReachable(stored)) namesakes.meet(stored)
        return test(stored)
      },
      context,
    ),
  ])
  namesakes.warn()
  if (found.isSelfSpared) {
    warn(
      `your own access key ${JSON.stringify(user.key.name)} matches and is left out: set spec.includeSelf to revoke it`,
    )
  }
  const lockouts = lockoutsWarning('access keys', found.reviewers)
  if (lockouts !== undefined) warn(lockouts)
  if (asked.names) warnAboutMissing(new Set(asked.names).size - found.keys.length - Number(found.isSelfSpared), warn)
  const keys: Target = {
    store: services.keyStore(),
    selected: found.keys,
    ownUid: user.key.uid,
    test,
    names: [],
    failed: 0,
  }
  // Trusts end first: otherwise they could give keys that the list of keys does not have.
  const targets = trusts ? [trusts.target, keys] : [keys]
  demandAtMost(asked, keys, trusts?.target)
  await recordUses(services, asked, targets, context)
  const outcome: Outcome = { failures: [], remaining: false }
  try {
    await createRevoker(services, { asked, manager }, context).revokeAll(targets, outcome)
  } finally {
    // Objects are changed side by side: the record names them in the order of their names.
    note('count', keys.names.length)
    note('names', keys.names.sort(byBytes))
    if (trusts) note('federatedIdentityCredentials', trusts.target.names.sort(byBytes))
    const failed = targets.reduce((sum, target) => sum + target.failed, 0)
    if (failed > 0) note('failed', failed)
  }
  const unconfirmed = await unconfirmedEnds(services, keys, found.known, context)
  return {
    ...countsOf(keys),
    remaining: outcome.remaining,
    byOwner: found.byOwner,
    keys: await showHints(services, found.shown),
    ...(trusts && { federatedIdentityCredentials: { ...countsOf(trusts.target), items: trusts.shown } }),
    ...(unconfirmed && { unconfirmed }),
    ...(outcome.failures.length > 0 && { failures: outcome.failures }),
  }
}

/** Returns what clusters have not confirmed of the revoked keys that the user may know. The keys are revoked, even if this cannot be read. */
async function unconfirmedEnds(
  { sleep }: Services,
  { store, selected, names }: Target,
  known: ReadonlySet<string>,
  { dryRun, deadline, warn }: RequestContext,
) {
  const done = new Set(names)
  const uids = new Set(selected.filter(({ name, uid }) => done.has(name) && known.has(uid)).map(({ uid }) => uid))
  if (dryRun || uids.size === 0) return undefined
  try {
    return await awaitClusters({ storage: store.storage, sleep, hasTime: () => deadline() > RESERVE_MS }, uids)
  } catch {
    warn('the keys are revoked, but it is not known which clusters have confirmed it')
    return undefined
  }
}

/** Records the requests that the scopes of the user have allowed: one for each verb that a revocation of an object needs. */
async function recordUses(
  services: Services,
  asked: RevocationSpec,
  targets: readonly Target[],
  context: RequestContext,
): Promise<void> {
  for (const { store, selected } of targets) {
    for (const { name } of selected) {
      for (const verb of verbsOf(asked)) await services.used(context, managementRequest(store.kind, { verb, name }))
    }
  }
}

const countsOf = ({ selected, names, failed }: Target) => ({ matched: selected.length, done: names.length, failed })

function demandAtMost({ atMost }: RevocationSpec, keys: Target, trusts: Target | undefined): void {
  const matched = keys.selected.length + (trusts?.selected.length ?? 0)
  if (atMost === undefined || matched <= atMost) return
  const counted = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
  const also = trusts ? ` and ${counted(trusts.selected.length, 'federated identity credential')}` : ''
  const why = `the request selects ${counted(keys.selected.length, 'access key')}${also}, and has changed nothing`
  throw refused([invalid('spec.atMost', atMost, why)])
}

/** Returns the trusts to revoke, if the request asks for them. Warns about those that it leaves. */
async function targetTrusts(
  services: Services,
  asked: RevocationSpec,
  maker: string | undefined,
  context: RequestContext,
): Promise<{ target: Target; shown: JsonObject[] } | undefined> {
  if (!asked.federatedIdentityCredentials && !concernsTrusts(asked)) return undefined
  const { user } = context
  const store = services.storeOf(FederatedIdentityCredential)
  const test = revokesTrust(asked, maker, user, services)
  const found = await findTrusts(store, services, asked, { maker, test }, context)
  for (const warning of warningsOf(found, asked)) context.warn(warning)
  if (!asked.federatedIdentityCredentials) return undefined
  const ownUid = user.federation?.trust.uid
  return { target: { store, selected: found.selected, ownUid, test, names: [], failed: 0 }, shown: found.shown }
}

function warnAboutMissing(missing: number, warn: RequestContext['warn']): void {
  if (missing <= 0) return
  warn(`spec.names: ${missing} of the names match no key that you can revoke`)
}

/** The most uids that a warning names. A request after these are revoked has the next ones. */
const MOST_NAMESAKES = 5

/**
 * Finds other keys that had the name in `spec.madeWith` and made keys that match otherwise. Who has a key can delete it and make it
 * again, and then the name selects nothing of what the first one made.
 */
function findNamesakes(
  asked: RevocationSpec,
  maker: string | undefined,
  { user, warn, now }: RequestContext,
  { scopes }: Pick<Services, 'scopes'>,
) {
  const name = asked.madeWith?.name
  const matches = selects(asked, undefined, now)
  const uids = new Set<string>()
  return {
    meet(stored: Stored): void {
      if (name === undefined || !matches(stored)) return
      const seen = seenMaker(stored, user, scopes)
      if (seen?.name === name && seen.uid !== maker) uids.add(seen.uid)
    },
    warn(): void {
      if (uids.size === 0) return
      const named = [...uids].slice(0, MOST_NAMESAKES).join(', or to ')
      warn(
        `keys that match were made with another key of the name ${JSON.stringify(name)} and are left out: set spec.madeWith.uid to ${named}`,
      )
    },
  }
}

/** Returns the uid of the key in `spec.madeWith`. Throws 422 if no key that the user may see has its name. */
async function makerOf(
  services: Services,
  { name, uid }: NonNullable<RevocationSpec['madeWith']>,
  { user }: RequestContext,
): Promise<string> {
  if (name === undefined) return uid ?? ''
  const { kind, storage } = services.keyStore()
  const stored = await storage.get(kind.table, objectKey('', name))
  const isVisible =
    stored !== undefined &&
    isAllowed(KINDS.OwnedAccessKey, { verb: 'list', name }, user, toKey(stored), services.scopes)
  const live = isVisible ? stored.object.metadata.uid : undefined
  if (live === undefined && uid === undefined) {
    const why = 'you can see no access key with this name: for a deleted key, give the uid'
    throw refused([invalid('spec.madeWith.name', name, why)])
  }
  if (live !== undefined && uid !== undefined && live !== uid) {
    throw refused([invalid('spec.madeWith.uid', uid, `the access key ${JSON.stringify(name)} has another uid`)])
  }
  return uid ?? live ?? ''
}
