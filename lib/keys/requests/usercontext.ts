/**
 * Decodes the user that the authorizer passes to the handlers. The form is base64url JSON text, because API Gateway
 * passes only text, numbers and booleans. A text that is not in this form is rejected.
 */

import { parseChain } from '../../access/scopes/parsechain.ts'
import { AUTHENTICATED } from '../../access/users/identity.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { parseFederation, parseKeyHash } from '../credential/keyinternal.ts'
import {
  HASH,
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  isText,
  isTextList,
  isTrue,
  part,
  strictRecord,
} from '../credential/strictrecord.ts'

/** Maximum length of each text, in characters. The limits on names, groups and chain ensure that every user fits. */
export const MAX_CONTEXT = 10_240

/** A user, and the warnings for the response. */
export interface UserContext {
  user: UserInfo
  warnings: readonly string[]
}

const KEY = { name: isNonEmptyText, uid: isNonEmptyText, type: isText }
const KEY_OPTIONAL = {
  user: isText,
  team: isText,
  subject: isText,
  displayName: isText,
  email: isText,
  expires: isCount,
  lastEnd: isCount,
  generation: isCount,
}
const USER = {
  name: isNonEmptyText,
  groups: isTextList,
  key: part((key) => strictRecord('the key of the user', key, KEY, KEY_OPTIONAL)),
  chain: part(parseChain),
}
const CREDENTIAL = { ...HASH, created: isCount }
const CREDENTIAL_OPTIONAL = { signedIn: isCount, successor: part(parseKeyHash), until: isCount }

/** The texts of the record, and how each is read. Some members of the user are texts of their own, because of the limit. */
const READERS = {
  user: readUser,
  credential: (value: unknown) => strictRecord('the credential of the user', value, CREDENTIAL, CREDENTIAL_OPTIONAL),
  federation: parseFederation,
  makers: listReader('the makers of the key of the user', isNonEmptyTextList),
  sourceCIDRs: listReader('the source addresses of the user', isNonEmptyTextList),
  warnings: listReader('the warnings of the response', isTextList),
}

export type UserTexts = { user: string } & Partial<Record<keyof typeof READERS, string>>

/** Returns the text of a member of the record. */
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Decodes the record. Throws an Error, without the texts, for anything that `encodeUser` does not produce. */
export function decodeUser(texts: Readonly<Record<string, unknown>>): UserContext {
  const present = Object.entries(READERS).filter(([name]) => name === 'user' || texts[name] !== undefined)
  const members = present.map(([name, read]) => [name, read(decode(`the ${name} in the context`, texts[name]))])
  const { user, warnings = [], ...apart } = Object.fromEntries(members)
  return { user: { ...user, ...apart }, warnings }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(what: string, text: unknown): unknown {
  if (typeof text !== 'string' || text.length > MAX_CONTEXT) throw new Error(`${what} is not a text, or is too long`)
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new Error(`${what} is not base64url`)
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Error(`${what} is not JSON`)
  }
}

function readUser(value: unknown): UserInfo {
  const user = strictRecord('the user', value, USER, { uid: isText, identity: isIdentity, mayReview: isTrue })
  if (!user.groups.includes(AUTHENTICATED)) throw new Error(`the user is not in ${AUTHENTICATED}`)
  return user
}

function listReader(what: string, isValid: (value: unknown) => value is readonly string[]) {
  return (value: unknown): readonly string[] => {
    if (!isValid(value)) throw new Error(`${what} are not a valid list`)
    return value
  }
}
