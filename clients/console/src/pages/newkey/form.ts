/** The form of a new key: what a person types, and the object that it is. */

import { DAY_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { eachKeyText, type KeyTextName, keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey, Self } from '../../../../core/src/objects.ts'
import { withoutMark } from '../../../../core/src/sessions.ts'
import { newRow, rowsOfScope, type ScopeRow, scopeOf } from '../../components/scope/scoperows.ts'
import { choiceOf, type LifetimeChoice, secondsOf } from '../../text/lifetimechoice.ts'
import { sourcesOf } from '../../text/sources.ts'

export type OwnerKind = 'self' | 'user' | 'team' | 'subject'

export interface KeyForm extends LifetimeChoice, Record<KeyTextName, string> {
  name: string
  /** Those of a key like which this one shall be. */
  labels: Readonly<Record<string, string>>
  ownerKind: OwnerKind
  owner: string
  groups: readonly string[]
  isScoped: boolean
  rows: readonly ScopeRow[]
  isFromLastUse: boolean
  /** One address a line. */
  sources: string
}

export const emptyForm: KeyForm = {
  name: '',
  labels: {},
  ...eachKeyText(() => ''),
  ownerKind: 'self',
  owner: '',
  groups: [],
  isScoped: true,
  rows: [newRow(1)],
  ...choiceOf(30 * DAY_SECONDS),
  isFromLastUse: false,
  sources: '',
}

/** An OwnedAccessKey to create. */
export interface NewKey {
  apiVersion: 'management.platform/v1'
  kind: 'OwnedAccessKey'
  metadata: ({ name: string } | { generateName: string }) & { labels?: Readonly<Record<string, string>> }
  spec: Omit<AccessKey['spec'], 'key' | 'disabled' | 'type'>
}

/** Beginning of the name of a key without a given one. */
export const NAME_PREFIX = 'key-'

/** Returns the object that the form describes, also while it is incomplete. */
export function keyOf(form: KeyForm): NewKey {
  const ttl = secondsOf(form)
  const sources = sourcesOf(form.sources)
  const name = form.name.trim()
  const texts = keyTexts.map(({ name }) => [name, form[name].trim()] as const)
  return {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: {
      ...(name === '' ? { generateName: NAME_PREFIX } : { name }),
      ...(Object.keys(form.labels).length > 0 && { labels: form.labels }),
    },
    spec: {
      ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
      ...(form.ownerKind !== 'self' && { [form.ownerKind]: form.owner.trim() }),
      ...(form.groups.length > 0 && { groups: [...form.groups] }),
      ...(ttl !== undefined && { ttl }),
      ...(ttl !== undefined && form.isFromLastUse && { ttlAfterLastActivity: true }),
      ...(sources.length > 0 && { sourceCIDRs: sources }),
      ...(form.isScoped && { scope: scopeOf(form.rows) }),
    },
  }
}

/** Returns the groups of the signed-in key that the new key can have too. Those of every user and of teams come by themselves. */
export const ownGroups = ({ groups = [] }: Self): string[] =>
  groups.filter((group) => group !== 'system:authenticated' && !group.startsWith('team:'))

/** Returns what the spec of a key names as its owner, or undefined for the person who makes it. */
export const namedKind = (spec: NewKey['spec']): Exclude<OwnerKind, 'self'> | undefined =>
  (['user', 'team', 'subject'] as const).find((kind) => spec[kind] !== undefined)

/** Returns the name of the signed-in person. */
export const selfName = ({ user, team, subject = '' }: Self): string =>
  user ? user.name : team ? `the team ${team.name}` : subject

/** Labels of the server, which says with them where a key came from. */
const OF_SERVER = 'management.platform/'

/**
 * Returns the form of a key like this one, without a name. Of its groups it has those that the form shows.
 */
export function formLike(key: AccessKey, self: Self): KeyForm {
  const { metadata, spec } = key
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !name.startsWith(OF_SERVER))
  return {
    ...emptyForm,
    ...eachKeyText(({ name }) => spec[name] ?? ''),
    ...ownerOf(key, self),
    labels: withoutMark(Object.fromEntries(labels)),
    groups: ownGroups(self).filter((group) => spec.groups?.includes(group)),
    isScoped: spec.scope !== undefined,
    rows: spec.scope ? rowsOfScope(spec.scope) : emptyForm.rows,
    ...choiceOf(spec.ttl),
    isFromLastUse: spec.ttlAfterLastActivity === true,
    sources: (spec.sourceCIDRs ?? []).join('\n'),
  }
}

/** The spec of a key that somebody made for themselves names no owner, but its status does. */
function ownerOf({ spec, status }: AccessKey, self: Self): { ownerKind: OwnerKind; owner: string } {
  const named = namedKind(spec)
  const [, prefix = 'user', rest = ''] = /^(?:(team|subject):)?(.*)$/s.exec(status?.owner ?? '') ?? []
  const [kind, name] = named ? [named, spec[named] ?? ''] : [prefix as OwnerKind, rest]
  const { user, team, subject } = self
  const own = user ? ['user', user.name] : team ? ['team', team.name] : ['subject', subject]
  const isOwn = name === '' || (kind === own[0] && name === own[1])
  return isOwn ? { ownerKind: 'self', owner: '' } : { ownerKind: kind, owner: name }
}
