/** Reads a trust into the form, and makes the patch that changes it. */
import { DEFAULT_TTL, type Trust } from '../../api/trusts.ts'
import { rowsOfScope } from '../../components/scope/scoperows.ts'
import { isSame } from '../../text/same.ts'
import { claimFields, type Draft, draftFor, trustObject } from './draft.ts'
import type { Platform } from './platforms/platforms.ts'

/** Returns the draft that makes a trust like this one, or undefined if the form cannot show all of it. */
export function draftOf({ metadata, spec }: Trust, platform: Platform): Draft | undefined {
  const { identityProvider, claims, scope, ttl = DEFAULT_TTL, displayName = '', tokensOnly = false } = spec
  const ownerKind = (['user', 'team', 'subject'] as const).find((one) => spec[one])
  const boundTo = (claim: string) => claims.find((one) => one.claim === claim)?.values?.[0]
  const choice = platform.choice?.find(({ claim }) => boundTo(claim) !== undefined)?.claim ?? ''
  const fields = claimFields({ platform, choice })
  const draft: Draft = {
    ...draftFor(platform),
    provider: identityProvider,
    choice,
    values: Object.fromEntries(
      fields.map(({ claim, prefix = '' }) => [claim, (boundTo(claim) ?? '').slice(prefix.length)]),
    ),
    ownerKind: ownerKind ?? '',
    owner: (ownerKind && spec[ownerKind]) ?? '',
    name: metadata.name,
    displayName,
    rows: (scope && rowsOfScope(scope)) ?? [],
    ttl,
    tokensOnly,
  }
  const { description: _, disabled: _disabled, maxKeys: _most, ...shown } = spec
  const inOrder = ({ claims: list, ...rest }: Trust['spec']) => ({
    ...rest,
    claims: list.toSorted((one, other) => one.claim.localeCompare(other.claim)),
  })
  const again = trustObject(draft).spec
  return isSame(inOrder({ ...again, tokensOnly }), inOrder({ ...shown, ttl, tokensOnly })) ? draft : undefined
}

/** Returns the merge patch that makes a trust as the draft says. Whose keys it makes, and for which provider, stays. */
export function trustPatch({ metadata: { uid, resourceVersion }, spec }: Trust, draft: Draft): object {
  const { claims, ttl, scope } = trustObject(draft).spec
  const gone = Object.keys(spec.scope ?? {}).map((list) => [list, null])
  return {
    metadata: { uid, resourceVersion },
    spec: {
      claims,
      ttl,
      tokensOnly: draft.tokensOnly,
      displayName: draft.displayName.trim() || null,
      // A merge patch keeps the lists that it does not name.
      scope: { ...Object.fromEntries(gone), ...scope },
    },
  }
}
