/** Makes the patch of an edited key: only the fields that the person has changed, for the version that the person has seen. */
import type { AccessKey } from '../../api/objects.ts'
import { lifetimeSeconds, lifetimeText } from '../../text/lifetime.ts'
import type { KeyPatch } from './patchkey.ts'

export interface Draft {
  displayName: string
  description: string
  lifetime: string
  /** One address or CIDR on each line. */
  addresses: string
}

export const draftOf = ({ spec }: AccessKey): Draft => ({
  displayName: spec.displayName ?? '',
  description: spec.description ?? '',
  lifetime: lifetimeText(spec.ttl),
  addresses: (spec.sourceCIDRs ?? []).join('\n'),
})

/** Returns the merge patch, or undefined if nothing has changed. */
export function patchOf({ metadata, spec: old }: AccessKey, before: Draft, draft: Draft): KeyPatch | undefined {
  const has = (member: keyof Draft) => draft[member] !== before[member]
  const addresses = draft.addresses.split(/[\s,]+/).filter((one) => one !== '')
  const spec = {
    ...(has('displayName') && { displayName: draft.displayName }),
    ...(has('description') && { description: draft.description }),
    ...(has('lifetime') && { ttl: lifetimeSeconds(draft.lifetime) || null }),
    ...(has('addresses') && { sourceCIDRs: addresses.length > 0 ? addresses : null }),
  }
  if (spec.ttl === null && !old.ttl) delete spec.ttl
  if (Object.keys(spec).length === 0) return undefined
  return { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }, spec }
}

/** Returns when the key would expire, in milliseconds, or undefined if it would not or the text is no lifetime. */
export function endWith({ metadata, spec, status }: AccessKey, lifetime: string): number | undefined {
  const seconds = lifetimeSeconds(lifetime)
  const start = (spec.ttlAfterLastActivity && status?.lastActivity) || metadata.creationTimestamp
  const end = Date.parse(start) + (seconds ?? 0) * 1000
  return seconds && !Number.isNaN(end) ? end : undefined
}
