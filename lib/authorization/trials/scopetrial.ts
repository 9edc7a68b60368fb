/**
 * Defines trials of scopes. A trial evaluates a smaller scope beside the scopes of a key. It allows nothing and refuses nothing: it
 * says what the smaller scope would refuse.
 */
import { isObject } from '../../meta/value/walk.ts'
import type { Attributes, Decision } from '../attributes/attributes.ts'
import { byteLength, MAX_CHAIN_BYTES } from '../scopes/chain.ts'
import { parseChain } from '../scopes/parsechain.ts'
import type { Scope } from '../scopes/scope.ts'

export interface ScopeTrial {
  /** The uid of the key or trust whose scope is tried. Keys that it made during the trial have this trial, too. */
  uid: string
  scope: Scope
  /** When the trial began and when it ends, in unix seconds. */
  since: number
  until: number
}

/** Returns the trials that go on at `now` (unix seconds). */
export const runningTrials = (trials: readonly ScopeTrial[] | undefined, now: number): readonly ScopeTrial[] =>
  (trials ?? []).filter(({ until }) => now < until)

/**
 * Returns the trials that a key with these hands down to what it makes. With more than 4 KiB of scopes, the rest are left out: a
 * trial is never a reason to allow.
 */
export function inheritedTrials(trials: readonly ScopeTrial[] | undefined, now: number): ScopeTrial[] {
  const handed: ScopeTrial[] = []
  for (const trial of runningTrials(trials, now)) {
    if (byteLength([...handed, trial].map(({ scope }) => scope)) <= MAX_CHAIN_BYTES) handed.push(trial)
  }
  return handed
}

/** What of a user decides whether a narrower permission makes a difference. */
export interface Asker {
  isMaster: boolean
  /** The key of the request. */
  key: { name: string; uid: string }
}

/**
 * Reports whether a request that the real scopes allow stays allowed by a tried one, whose decision is `tried`. A narrower
 * permission suffices if it makes no difference for this asker and request.
 */
export function staysAllowed(tried: Decision, real: Decision, attributes: Attributes, asker: Asker): boolean {
  if (!tried.allowed || !real.allowed) return tried.allowed
  if (tried.self && !real.self) return attributes.kind === 'resource' && attributes.name === asker.key.name
  // Users who are not administrators never see more than their own objects.
  return !tried.own || real.own === true || !asker.isMaster
}

/** Returns the trials of a stored form. Throws an Error without the value for anything else. */
export function parseTrials(value: unknown): ScopeTrial[] {
  if (!Array.isArray(value) || !value.every(isTrial)) throw new Error('not a list of trials')
  for (const { scope } of value) parseChain([scope])
  return value
}

const isTrial = (value: unknown): value is ScopeTrial =>
  isObject(value) &&
  typeof value.uid === 'string' &&
  isObject(value.scope) &&
  Number.isSafeInteger(value.since) &&
  Number.isSafeInteger(value.until)
