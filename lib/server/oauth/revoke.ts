/**
 * Ends what an exchange has answered, for anyone who presents it (RFC 7009): an access key, or the token of a cluster or virtual cluster.
 * A token ends no more than itself: its key ends with it only if the exchange gave nothing else, or all else has ended. Other texts get the same answer
 * and stay valid: anyone who finds a long-lived key reports it as leaked, which deletes nothing.
 */

import { formatPlace } from '../../access/scopes/place.ts'
import { boundTokenOf } from '../../clusters/serviceaccounts/boundtoken.ts'
import { placeIn } from '../../clusters/serviceaccounts/target.ts'
import { placeOfAudience } from '../../clusters/token/audience.ts'
import { keyOfToken } from '../../clusters/token/claims.ts'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { KEY_PREFIX } from '../../engine/meta/value/credentialformat.ts'
import { deleteObject } from '../../engine/registry/delete.ts'
import { unlessLost } from '../../engine/registry/storageerrors.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import { type IdToken, MalformedIdToken, parseIdToken } from '../../federation/idtoken.ts'
import { revokedAnswer } from '../../federation/oauth/answers.ts'
import { type OAuthCall, writeContext } from '../../federation/oauth/call.ts'
import { withoutLineBreak } from '../../federation/oauth/form.ts'
import { malformed, OAuthError } from '../../federation/oauth/oautherror.ts'
import type { Outcome } from '../../federation/oauth/outcomes.ts'
import { isWellFormed } from '../../keys/credential/accesskey.ts'
import { placeOf } from '../../keys/credential/boundsecrets.ts'
import { credentialItemKey, readCredential } from '../../keys/credential/credential.ts'
import { decodeKeyInternal, type KeyInternal } from '../../keys/credential/keyinternal.ts'
import { endItems, endOfPart, placesOf } from '../../keys/credential/targetkeys.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import { ownerOf } from '../../keys/ownedaccesskey.values.ts'
import { isTombstone } from '../../keys/values/tombstone.ts'
import { awaitRemovals } from '../../revocation/accesskeyrevocation.clusters.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import type { Server } from '../server.ts'
import { type OAuthEndpoint, startEndpoint } from './endpoint.ts'

/**
 * Answers a revocation: 200 for what has ended by it, has ended before or is unknown, so that a second one never fails a job. Throws
 * unsupported_token_type for a token of a cluster that this service has not given, and an error if the store fails.
 */
export async function revoke(call: OAuthCall, server: Server): Promise<{ response: ApiResponse; outcome: Outcome }> {
  const token = call.form.get('token')
  if (token === undefined) throw malformed('the parameter token is missing or empty')
  const ended = await end(call, server, withoutLineBreak(token))
  if (!ended) return { response: revokedAnswer(), outcome: 'nothing_revoked' }
  const { clusters, ...key } = ended
  call.note({ ...key })
  // curl prints what it is sent, in the middle of the output of a job.
  const isAsked = call.headers.accept?.includes('application/json') === true
  return { response: revokedAnswer(isAsked ? { unconfirmed: clusters } : undefined), outcome: 'revoked' }
}

interface Ended {
  name: string
  uid: string
  user?: string
  /** The clusters that have not confirmed the end of the token. */
  clusters?: readonly string[]
}

async function end(call: OAuthCall, server: Server, value: string): Promise<Ended | undefined> {
  if (value.startsWith(KEY_PREFIX)) return remove(call, server, await findKey(server, value))
  return (await endBound(call, server, value)) ?? endToken(call, server, await findKeyOfToken(call, server, value))
}

/** Returns the key that has this value, if an exchange made it. */
async function findKey({ storage, hashes }: Server, value: string): Promise<Ended | undefined> {
  // Only generated keys come from an exchange. Other texts are not looked up, because anyone may send them.
  if (!isWellFormed(value)) return undefined
  const items = await storage.getCompanions((await hashes(value)).map(credentialItemKey))
  const item = items.find((one) => one !== undefined)
  if (item === undefined || isTombstone(item.attributes)) return undefined
  const { name, uid, user, federation } = readCredential(item.attributes)
  return federation && { name, uid, user }
}

/** A key of which nobody has more than tokens, and the place of one of them. */
interface TargetKey {
  key: Ended
  internal: KeyInternal
  place: string | undefined
}

/** Returns the key of an exchange for targets to which a token of this service belongs. Reads nothing from the store before the signature has held. */
async function findKeyOfToken({ now }: OAuthCall, server: Server, text: string): Promise<TargetKey | undefined> {
  const { signer, config } = server
  const token = readIdToken(text)
  if (token?.issuer !== config.issuer || token.expires <= unixSeconds(now)) return undefined
  const { verifySignature } = await import('../../federation/verify.ts')
  if (!(await verifySignature(token, await signer.keys()))) return undefined
  const place = placeOfAudience(config.issuer, token.audience)
  return findTargetKey(server, keyOfToken(token.claims), place && formatPlace(place))
}

async function findTargetKey(
  { storage }: Server,
  { name, uid }: Ended,
  place: string | undefined,
): Promise<TargetKey | undefined> {
  const stored = await storage.get(OwnedAccessKey.table, name)
  if (stored?.object.metadata.uid !== uid) return undefined
  const internal = decodeKeyInternal(stored.internal)
  if (internal.target === undefined) return undefined
  return { key: { name, uid, user: ownerOf(stored) }, internal, place }
}

/**
 * Ends the token of a key, and the key with its last one. The order lets a request that dies in between be repeated. Returns undefined
 * if the token has ended before.
 */
async function endToken(call: OAuthCall, server: Server, found: TargetKey | undefined): Promise<Ended | undefined> {
  if (!found) return undefined
  const { key, internal, place } = found
  const part = place === undefined ? undefined : endOfPart(internal, place)
  if (place === undefined || !part) return remove(call, server, key)
  const { storage } = server
  const ends = placesOf(internal)
    .map((one) => endOfPart(internal, one))
    .filter((one) => one !== undefined)
  const isNew = (await getCompanion(storage, part)) === undefined
  if (isNew)
    for (const item of endItems(internal, [place])) await storage.writeCompanion(item, { deadline: call.deadline })
  // Read after the write: of two last ones at once, at least one sees both.
  const isOver = (await storage.getCompanions(ends)).every((end) => end !== undefined)
  const removed = isOver ? await remove(call, server, key) : undefined
  return isNew ? key : removed
}

function readIdToken(text: string): IdToken | undefined {
  try {
    return parseIdToken(text)
  } catch (error) {
    if (error instanceof MalformedIdToken) return undefined
    throw error
  }
}

/**
 * Ends the Secret to which a token of a service account is bound, and the key of an exchange that gave nothing else. Returns undefined for
 * any other text, and for one that has ended.
 */
async function endBound(call: OAuthCall, server: Server, text: string): Promise<Ended | undefined> {
  const token = boundTokenOf(text)
  if (token === undefined || token.expires <= unixSeconds(call.now)) return undefined
  const { records } = server.serviceAccounts
  const found = await records.findToken(token)
  if (found === 'unknown') throw foreign()
  if (found === 'gone') return undefined
  const { bound, item } = found
  const { name, uid } = bound
  // The key first: a request that dies in between is completed by the next one, or by the end of the key.
  const target = await findTargetKey(server, { name, uid }, placeIn(placeOf(item)))
  const key = await endToken(call, server, target)
  const isRevoked = await records.revoke(found)
  if (!key && !isRevoked) return undefined
  const { storage, sleep } = server
  const unconfirmed = await awaitRemovals({ storage, sleep, hasTime: () => call.deadline() > RESERVE_MS }, [item])
  return { name, uid, ...key, ...(unconfirmed && { clusters: unconfirmed.clusters }) }
}

/** The part of a request that is reserved for its answer. */
const RESERVE_MS = 5000

const foreign = (): OAuthError =>
  new OAuthError(
    'unsupported_token_type',
    'foreign_token',
    'a cluster issued this token, and not for this service: it cannot be revoked here',
  )

/** Deletes the key. Returns undefined if it is gone already. */
async function remove(call: OAuthCall, server: Server, key: Ended | undefined): Promise<Ended | undefined> {
  if (!key) return undefined
  const { name, uid } = key
  const store = server.storeOf(OwnedAccessKey)
  // Another key may have this name.
  const options = { preconditions: { uid }, propagationPolicy: 'Background' as const }
  const deleted = await unlessLost(() => deleteObject(store, { namespace: '', name }, options, writeContext(call)))
  return deleted && key
}

const endpoint: OAuthEndpoint<Server> = {
  resource: 'oauth2/revoke',
  verb: 'delete',
  answer: revoke,
  measure: () => [],
}

/** Returns the Lambda handler of the revocation endpoint. */
export const revokeHandler = (): Promise<PublicHandler> => startEndpoint(endpoint, (server) => server)
