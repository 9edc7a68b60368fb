/** The form of a new key: what a person types, and the object that it is. */
import type { AccessKey, Self } from '../../api/objects.ts'
import { newRow, type ScopeRow, scopeOf } from '../../components/scope/scoperows.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../text/lifetime.ts'

export type OwnerKind = 'self' | 'user' | 'team' | 'subject'

/** The lifetimes to choose from: seconds as a text, or one of two words. */
export const LIFETIMES: readonly (readonly [lifetime: string, words: string])[] = [
  [String(HOUR_SECONDS), '1 hour'],
  [String(DAY_SECONDS), '1 day'],
  [String(7 * DAY_SECONDS), '7 days'],
  [String(30 * DAY_SECONDS), '30 days'],
  [String(90 * DAY_SECONDS), '90 days'],
  [String(365 * DAY_SECONDS), '1 year'],
  ['custom', 'Custom'],
  ['never', 'Never ends'],
]
export const UNITS = { minutes: 60, hours: HOUR_SECONDS, days: DAY_SECONDS } as const

export interface Form {
  name: string
  displayName: string
  description: string
  ownerKind: OwnerKind
  owner: string
  groups: readonly string[]
  isScoped: boolean
  rows: readonly ScopeRow[]
  /** One of LIFETIMES. */
  lifetime: string
  count: string
  unit: keyof typeof UNITS
  isFromLastUse: boolean
  /** One address a line. */
  sources: string
}

export const emptyForm: Form = {
  name: '',
  displayName: '',
  description: '',
  ownerKind: 'self',
  owner: '',
  groups: [],
  isScoped: true,
  rows: [newRow(1)],
  lifetime: String(30 * DAY_SECONDS),
  count: '',
  unit: 'days',
  isFromLastUse: false,
  sources: '',
}

/** An OwnedAccessKey to create. */
export interface NewKey {
  apiVersion: 'management.platform/v1'
  kind: 'OwnedAccessKey'
  metadata: { name: string } | { generateName: string }
  spec: Omit<AccessKey['spec'], 'key' | 'disabled' | 'type'>
}

/** Beginning of the name of a key without a given one. */
export const NAME_PREFIX = 'key-'

/** Returns the object that the form describes, also while it is incomplete. */
export function keyOf(form: Form): NewKey {
  const ttl = secondsOf(form)
  const sources = sourcesOf(form)
  const name = form.name.trim()
  return {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: name === '' ? { generateName: NAME_PREFIX } : { name },
    spec: {
      ...(form.displayName.trim() !== '' && { displayName: form.displayName.trim() }),
      ...(form.description.trim() !== '' && { description: form.description.trim() }),
      ...(form.ownerKind !== 'self' && { [form.ownerKind]: form.owner.trim() }),
      ...(form.groups.length > 0 && { groups: form.groups }),
      ...(ttl !== undefined && { ttl }),
      ...(ttl !== undefined && form.isFromLastUse && { ttlAfterLastActivity: true }),
      ...(sources.length > 0 && { sourceCIDRs: sources }),
      ...(form.isScoped && { scope: scopeOf(form.rows) }),
    },
  }
}

/** Returns the lifetime in seconds, or undefined for none and for one that is no number yet. */
export function secondsOf({ lifetime, count, unit }: Form): number | undefined {
  if (lifetime === 'never') return undefined
  if (lifetime !== 'custom') return Number(lifetime)
  return /^\d{1,9}$/.test(count.trim()) && Number(count) > 0 ? Number(count) * UNITS[unit] : undefined
}

export const sourcesOf = ({ sources }: Form): string[] =>
  sources
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Returns the groups of the signed-in key that the new key can have too. Those of every user and of teams come by themselves. */
export const ownGroups = ({ groups = [] }: Self): string[] =>
  groups.filter((group) => group !== 'system:authenticated' && !group.startsWith('team:'))
