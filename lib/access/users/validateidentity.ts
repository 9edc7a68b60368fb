/**
 * Validates the names that a key grants to its holder. They appear in tokens, certificates and the authorizer's
 * context.
 */
import { type FieldError, invalid, required, tooLong, tooMany } from '../../engine/meta/errors/fielderror.ts'
import { isPrintable } from '../../engine/meta/value/printable.ts'
import { byteLength } from '../scopes/chain.ts'
import { type KeySpec, RESERVED_NAMES } from './identity.ts'

/** The Kubernetes limit for names. */
const MAX_NAME_BYTES = 253
const MAX_GROUPS = 64
/** Limit for all groups as JSON. Together with the other limits it keeps every user within the authorizer's context. */
const MAX_GROUPS_BYTES = 1024

/** Returns the 422 errors for user, team, subject and groups. */
export function validateIdentity(spec: KeySpec): FieldError[] {
  return [
    ...(['user', 'subject'] as const).flatMap((member) => {
      const value = spec[member] ?? ''
      const reserved = RESERVED_NAMES.find((prefix) => value.startsWith(prefix))
      if (reserved) return [invalid(`spec.${member}`, value, `may not begin with '${reserved}'`)]
      return validateName(value, `spec.${member}`)
    }),
    ...validateName(spec.team ?? '', 'spec.team'),
    ...validateGroups(spec.groups ?? [], 'spec.groups'),
  ]
}

export function validateGroups(groups: readonly string[], path: string): FieldError[] {
  if (groups.length > MAX_GROUPS) return [tooMany(path, groups.length, MAX_GROUPS)]
  if (byteLength(groups) > MAX_GROUPS_BYTES) return [tooLong(path, MAX_GROUPS_BYTES)]
  return groups.flatMap((group, index) =>
    group === '' ? [required(`${path}[${index}]`)] : validateName(group, `${path}[${index}]`),
  )
}

function validateName(name: string, path: string): FieldError[] {
  if (byteLength(name) > MAX_NAME_BYTES) return [tooLong(path, MAX_NAME_BYTES)]
  return isPrintable(name) ? [] : [invalid(path, name, 'may only have printable characters')]
}
