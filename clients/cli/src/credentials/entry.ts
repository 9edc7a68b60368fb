/**
 * Keeps credentials in files of the cache folder, one for each server, key and target. The name of a file is a hash of all three, so a
 * key that has changed finds none of the credentials that its old value was given.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { replaceFile } from '../../../core/src/files/privatefiles.ts'
import { readTrusted, remove } from './cachefolder.ts'
import { type Credential, credentialIn } from './credential.ts'
import type { Early, Lifetime } from './lifetime.ts'

/** For whom and for what a credential is. */
export interface Owner {
  server: string
  /** The access key, or the text that is exchanged for one. Only its SHA-256 is used. */
  key: string
  /** What all keys of this owner have in common, if they come and go. Without it, the key itself. */
  keysOf?: string
}

export interface Entry extends Lifetime {
  credential: Credential
  /** The last failure of a server that should have renewed the credential, since it arrived. */
  failure?: Failure
  /** The last time that it was renewed before that was due. */
  early?: Early
}

export interface Failure {
  /** Unix milliseconds. */
  at: number
  message: string
}

/** Counts forms of the files. Files of other forms are ignored. */
const FORM = 1

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns the name of the cache entry of a target, without an extension. */
export const entryName = ({ server, key }: Owner, target: string): string =>
  sha256(JSON.stringify([FORM, server, sha256(key), target]))

/** Returns a text that all entries of an owner have in common, and no others. */
export const ownerMark = ({ server, key, keysOf }: Owner): string =>
  sha256(JSON.stringify([FORM, server, sha256(keysOf ?? key)]))

const fileOf = (name: string): string => `${name}.json`

/** Returns the entry with this name. Returns undefined if there is none, or one that is not to be trusted. */
export function readEntry(folder: string, name: string): Entry | undefined {
  return parseEntry(readTrusted(folder, fileOf(name)), name)?.entry
}

/** Replaces the entry. Throws the error of the file system. */
export async function writeEntry(folder: string, name: string, owner: string, entry: Entry): Promise<void> {
  await replaceFile(join(folder, fileOf(name)), `${JSON.stringify({ form: FORM, name, owner, ...entry })}\n`)
}

export const removeEntry = (folder: string, name: string): void => remove(folder, fileOf(name))

/** Returns the entry in the text of a file, with its owner. Its name is in the text, so that a file moved to another name is no entry. */
export function parseEntry(text: string | undefined, name: string): { entry: Entry; owner: string } | undefined {
  const value = parsed(text)
  if (value?.form !== FORM || value.name !== name || typeof value.owner !== 'string') return undefined
  const { owner, received, seconds } = value
  const credential = credentialIn(value.credential)
  if (credential === undefined || !isCount(received) || !isCount(seconds)) return undefined
  const failure = failureIn(value.failure)
  const early = earlyIn(value.early)
  return { entry: { received, seconds, credential, ...(failure && { failure }), ...(early && { early }) }, owner }
}

function failureIn(value: unknown): Failure | undefined {
  const { at, message } = Object(value) as Partial<Record<keyof Failure, unknown>>
  return isCount(at) && typeof message === 'string' ? { at, message } : undefined
}

function earlyIn(value: unknown): Early | undefined {
  const { at, pause } = Object(value) as Partial<Record<keyof Early, unknown>>
  return isCount(at) && isCount(pause) ? { at, pause } : undefined
}

function parsed(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
