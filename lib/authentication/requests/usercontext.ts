/**
 * Encodes the user that the authorizer passes to the handlers. The form is base64url JSON text, because API Gateway
 * passes only text, numbers and booleans. A text that is not in this form is rejected.
 */

import { parseChain } from '../../authorization/scopes/parsechain.ts'
import { AUTHENTICATED } from '../../authorization/users/identity.ts'
import type { Federation, PresentedCredential, UserInfo } from '../../authorization/users/user.ts'
import { parseFederation } from '../federationform.ts'
import { parseKeyHash } from '../keyinternal.ts'
import { isCount, isIdentity, isNonEmptyText, isText, isTextList, isUidList, strictRecord } from '../strictrecord.ts'

/**
 * Maximum length of the encoded user, in characters. The limits on names, groups and chain ensure that every user fits.
 */
export const MAX_CONTEXT = 10_240

/**
 * Encodes the user. Throws an Error when it does not fit, because a truncated chain would grant more. During a deploy,
 * functions of the previous release decode this text and ignore members that they do not know.
 */
export function encodeUser({
  credential: _,
  federation: __,
  ancestors: ___,
  sourceCIDRs: ____,
  ...user
}: UserInfo): string {
  const text = encode(user)
  if (text.length > MAX_CONTEXT) throw new Error('the user does not fit the context of the authorizer')
  return text
}

/** Decodes the user. Throws an Error, without the text, for anything that `encodeUser` does not produce. */
export function decodeUser(text: string): UserInfo {
  if (text.length > MAX_CONTEXT) throw new Error('the user is larger than the context of the authorizer')
  const user = strictRecord('the user', decode('the user', text), USER, { uid: isText, identity: isIdentity })
  const key = strictRecord('the key of the user', user.key, KEY, KEY_OPTIONAL)
  const chain = parseChain(user.chain)
  if (!(user.groups as string[]).includes(AUTHENTICATED)) throw new Error(`the user is not in ${AUTHENTICATED}`)
  return { ...user, key, chain } as unknown as UserInfo
}

/** Encodes the credential of the presented key as a separate text. */
export const encodeCredential = ({ version, hash, created, signedIn, successor, until }: PresentedCredential): string =>
  encode({ version, hash, created, signedIn, successor, until })

/** Decodes the credential. Throws an Error, without the text, for anything that `encodeCredential` does not produce. */
export function decodeCredential(text: string): PresentedCredential {
  const what = 'the credential of the user'
  const { successor, ...credential } = strictRecord(what, decode(what, text), CREDENTIAL, CREDENTIAL_OPTIONAL)
  return {
    ...(credential as unknown as PresentedCredential),
    ...(successor !== undefined && { successor: parseKeyHash(successor) }),
  }
}

/** Encodes what an exchanged key came through as a separate text. */
export const encodeFederation = (federation: Federation): string => encode(federation)

/** Decodes it. Throws an Error, without the text, for anything that `encodeFederation` does not produce. */
export const decodeFederation = (text: string): Federation =>
  parseFederation(decode('the federation of the user', text))

/** Encodes the uids of the keys that made the presented one as a separate text. */
export const encodeAncestors = (uids: readonly string[]): string => encode(uids)

/** Decodes the uids. Throws an Error, without the text, for anything that `encodeAncestors` does not produce. */
export function decodeAncestors(text: string): readonly string[] {
  const what = 'the ancestors of the key of the user'
  const uids = decode(what, text)
  if (!isUidList(uids)) throw new Error(`${what} are not a list of uids`)
  return uids as string[]
}

/** Encodes the addresses from which the key may be used as a separate text. */
export const encodeSourceCIDRs = (list: readonly string[]): string => encode(list)

/** Decodes them. Throws an Error, without the text, for anything that `encodeSourceCIDRs` does not produce, or no address. */
export function decodeSourceCIDRs(text: string): readonly string[] {
  const what = 'the source addresses of the user'
  const list = decodeTexts(what, text)
  if (list.length === 0) throw new Error(`${what} are none`)
  return list
}

/** Encodes the warnings for the response as a separate text. */
export const encodeWarnings = (warnings: readonly string[]): string => encode(warnings)

/** Decodes them. Throws an Error, without the text, for anything that `encodeWarnings` does not produce. */
export const decodeWarnings = (text: string): readonly string[] => decodeTexts('the warnings of the response', text)

function decodeTexts(what: string, text: string): readonly string[] {
  const texts = decode(what, text)
  if (!isTextList(texts)) throw new Error(`${what} is not a list of texts`)
  return texts as string[]
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function decode(what: string, text: string): unknown {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new Error(`${what} is not base64url`)
  return parse(what, bytes)
}

const CREDENTIAL = { version: isNonEmptyText, hash: isNonEmptyText, created: isCount }
const CREDENTIAL_OPTIONAL = { signedIn: isCount, successor: () => true, until: isCount }
const USER = { name: isNonEmptyText, groups: isTextList, key: () => true, chain: Array.isArray }
const KEY = { name: isNonEmptyText, uid: isNonEmptyText, type: isText }
const KEY_OPTIONAL = {
  user: isText,
  team: isText,
  subject: isText,
  displayName: isText,
  email: isText,
  expires: isCount,
  generation: isCount,
}

function parse(what: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new Error(`${what} is not JSON`)
  }
}
