/**
 * Deletes an access key that an exchange made, for anyone who presents it or a token of it (RFC 7009). Other tokens get the same
 * answer and stay valid: anyone who finds a long-lived key reports it as leaked, which deletes nothing.
 */
import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import { isExchanged, ownerOf } from '../../apis/management/v1/ownedaccesskey.values.ts'
import { isWellFormed } from '../../authentication/accesskey.ts'
import { credentialItemKey, readCredential } from '../../authentication/credential.ts'
import { isTombstone } from '../../authentication/values/tombstone.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { type IdToken, MalformedIdToken, parseIdToken } from '../../federation/idtoken.ts'
import { keyOfToken } from '../../kubeconfig/token/claims.ts'
import { KEY_PREFIX } from '../../meta/value/keyformat.ts'
import { deleteObject } from '../../registry/delete.ts'
import { unlessLost } from '../../registry/storageerrors.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import type { Server } from '../server.ts'
import { revokedAnswer } from './answers.ts'
import { type OAuthCall, type OAuthEndpoint, type Outcome, startEndpoint, writeContext } from './endpoint.ts'
import { withoutLineBreak } from './form.ts'
import { malformed } from './oautherror.ts'

/** Answers a revocation: 200 for every token, and an error only if the store fails. */
export async function revoke(call: OAuthCall, server: Server): Promise<{ response: ApiResponse; outcome: Outcome }> {
  const token = call.form.get('token')
  if (token === undefined) throw malformed('the parameter token is missing or empty')
  const key = await findExchangedKey(server, withoutLineBreak(token))
  const isRevoked = key !== undefined && (await remove(call, server, key))
  if (key && isRevoked) call.note({ ...key })
  return { response: revokedAnswer(), outcome: isRevoked ? 'revoked' : 'nothing_revoked' }
}

interface FoundKey {
  user: string
  name: string
  uid: string
}

/** Returns the key that has this value or made this token, if an exchange made the key. */
async function findExchangedKey(server: Server, value: string): Promise<FoundKey | undefined> {
  const { storage, hashes } = server
  if (!value.startsWith(KEY_PREFIX)) return findKeyOfToken(server, value)
  // Only generated keys come from an exchange. Other texts are not looked up, because anyone may send them.
  if (!isWellFormed(value)) return undefined
  const items = await storage.getCompanions((await hashes(value)).map(credentialItemKey))
  const item = items.find((one) => one !== undefined)
  if (item === undefined || isTombstone(item.attributes)) return undefined
  const { name, uid, user, federation } = readCredential(item.attributes)
  return federation && { name, uid, user }
}

/** Returns the exchanged key to which a token of this service belongs. Reads nothing from the store before the signature has held. */
async function findKeyOfToken({ storage, signer, config }: Server, text: string): Promise<FoundKey | undefined> {
  const token = readIdToken(text)
  if (token?.issuer !== config.issuer) return undefined
  const { verifySignature } = await import('../../federation/verify.ts')
  if (!(await verifySignature(token, await signer.keys()))) return undefined
  const { name, uid } = keyOfToken(token.claims)
  const stored = await storage.get(OwnedAccessKey.table, name)
  if (stored?.object.metadata.uid !== uid || !isExchanged(stored)) return undefined
  return { name, uid, user: ownerOf(stored) }
}

function readIdToken(text: string): IdToken | undefined {
  try {
    return parseIdToken(text)
  } catch (error) {
    if (error instanceof MalformedIdToken) return undefined
    throw error
  }
}

/** Deletes the key. Returns false if it is gone already. */
async function remove(call: OAuthCall, server: Server, { name, uid }: FoundKey): Promise<boolean> {
  const store = server.storeOf(OwnedAccessKey)
  // Another key may have this name.
  const options = { preconditions: { uid }, propagationPolicy: 'Background' as const }
  const deleted = await unlessLost(() => deleteObject(store, { namespace: '', name }, options, writeContext(call)))
  return deleted !== undefined
}

const endpoint: OAuthEndpoint<Server> = {
  resource: 'oauth2/revoke',
  verb: 'delete',
  answer: revoke,
  measure: () => [],
}

/** Returns the Lambda handler of the revocation endpoint. */
export const revokeHandler = (): Promise<PublicHandler> => startEndpoint(endpoint, (server) => server)
