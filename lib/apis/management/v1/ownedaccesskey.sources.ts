/** Handles `spec.sourceCIDRs` of access keys: its validation, and its inheritance. */
import type { KeySpec } from '../../../authorization/users/identity.ts'
import { checkCIDR } from '../../../authorization/users/sourcecidrs.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { type FieldError, findingsOf, invalid } from '../../../meta/errors/fielderror.ts'
import type { Draft } from '../../../registry/kind.ts'
import { specOf } from './ownedaccesskey.values.ts'

/** Returns the 422 errors for the addresses of a key. Each address has one spelling, so that people can compare them. */
export const validateSources = ({ sourceCIDRs = [] }: KeySpec): FieldError[] =>
  findingsOf(sourceCIDRs, (one, index) => {
    const detail = checkCIDR(one)
    return detail === undefined ? [] : [invalid(`spec.sourceCIDRs[${index}]`, one, detail)]
  })

/** Gives a new key the addresses of the key that makes it, if the request names none. */
export function inheritSources(draft: Draft, { sourceCIDRs }: UserInfo): void {
  if (sourceCIDRs === undefined || specOf(draft.object).sourceCIDRs?.length) return
  draft.object = { ...draft.object, spec: { ...draft.object.spec, sourceCIDRs: [...sourceCIDRs] } }
}
