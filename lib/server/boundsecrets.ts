/**
 * Makes the handler that removes the Secrets of ended keys from clusters: tokens of service accounts end with them. Each run that has
 * something to do writes a log line.
 */
import type { Context } from 'aws-lambda'
import { keyIdentity } from '../access/users/identity.ts'
import { removeBoundSecret } from '../clusters/boundtokens.ts'
import { Cluster } from '../clusters/cluster.ts'
import { accountFor } from '../clusters/serviceaccounts/accountname.ts'
import { endSecrets } from '../clusters/serviceaccounts/endsecrets.ts'
import {
  type AccountTarget,
  clusterIn,
  clusterTarget,
  instanceTarget,
  isVirtual,
} from '../clusters/serviceaccounts/target.ts'
import { VirtualClusterInstance } from '../clusters/virtualclusterinstance.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Bound } from '../keys/credential/boundsecrets.ts'
import { decodeKeyInternal, firstTokens } from '../keys/credential/keyinternal.ts'
import { keyStatus, lifeOfStored } from '../keys/credential/keystatus.ts'
import { historyItem } from '../keys/history/items.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import { scopesOf, toKey } from '../keys/ownedaccesskey.values.ts'
import { createServer, type Server } from './server.ts'

/** Time reserved at the end of an invocation to finish work in progress and to write the result. */
const reserveMs = 15_000

/** Returns a function that finds what a place is now. Each run asks once for each place. */
function targetsOf({ storage }: Server): (placeKey: string) => Promise<AccountTarget | undefined> {
  const known = new Map<string, Promise<AccountTarget | undefined>>()
  const find = async (placeKey: string): Promise<AccountTarget | undefined> => {
    const [{ table }, targetIn] = isVirtual(placeKey)
      ? [VirtualClusterInstance, instanceTarget]
      : [Cluster, clusterTarget]
    const stored = await storage.get(table, clusterIn(placeKey))
    if (!stored || stored.object.metadata.deletionTimestamp !== undefined) return undefined
    const target = targetIn(stored.object)
    return target?.key === placeKey ? target : undefined
  }
  return (placeKey) => {
    const target = known.get(placeKey) ?? find(placeKey)
    known.set(placeKey, target)
    return target
  }
}

/**
 * Returns until when a key may use a Secret, as for a request with it: 0 if it gives no access, if a value of it has leaked since, if
 * it is somebody else's or restricted there by now, or if the cluster is another one.
 */
async function lifeOfSecret(bound: Bound, target: AccountTarget | undefined, server: Server): Promise<number> {
  const isSame =
    target?.namespace === bound.namespace &&
    target.secretRef === bound.secretRef &&
    (!target.address || deepEqual(target.address, { server: bound.server, authority: bound.authority ?? '' }))
  const stored = isSame ? await server.livingKey(bound) : undefined
  if (!target || !stored) return 0
  if (firstTokens(decodeKeyInternal(stored.internal)) > bound.since) return 0
  const account = accountFor(keyIdentity(toKey(stored)), scopesOf(stored), target.place, server.scopes)
  if (account !== bound.account) return 0
  const { expires } = keyStatus(lifeOfStored(stored), unixSeconds(server.now()), server.limits)
  return expires ?? Number.POSITIVE_INFINITY
}

/** Reports whether the key exists: a history goes with its key. */
async function isKept({ storage }: Server, { name, uid }: { name: string; uid: string }): Promise<boolean> {
  const stored = await storage.get(OwnedAccessKey.table, name)
  return stored?.object.metadata.uid === uid
}

/** Returns the handler. A schedule invokes it every minute, and the publisher of events when a key has ended. */
export function boundSecretsHandler() {
  const server = createServer(process.env)
  const { storage, now, log } = server
  return async (_event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    const targetOf = targetsOf(server)
    const done = await endSecrets({
      storage,
      now,
      hasTime: () => context.getRemainingTimeInMillis() > reserveMs,
      deadline: () => context.getRemainingTimeInMillis(),
      judge: async (bound, placeKey) => lifeOfSecret(bound, await targetOf(placeKey), server),
      remove: (bound, placeKey) => removeBoundSecret(bound, placeKey, server.serviceAccounts),
      async unconfirmed({ name, uid, secret, attempts = 0, ended = 0 }, place, error) {
        const deadline = () => context.getRemainingTimeInMillis()
        if (attempts === 0 && (await isKept(server, { name, uid }))) {
          const told = { kind: 'tokens-unconfirmed', at: ended, detail: { cluster: clusterIn(place) } }
          await storage.writeCompanion(historyItem(uid, told, place), { deadline })
        }
        log('error', 'secret not removed', { accessKey: name, uid, secret, place, error: describeError(error) })
      },
    })
    if (done.seen === 0) return
    const { seen, unconfirmed, failed, error, ...counts } = done
    const failure = error === undefined ? {} : { error: describeError(error) }
    log(error === undefined ? 'info' : 'error', 'bound secrets', { seen, ...counts, ...failure }, [
      { values: { secretsUnconfirmed: unconfirmed, secretsFailed: failed } },
    ])
  }
}
