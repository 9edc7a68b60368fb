/**
 * Validates owner references and removes duplicates.
 * Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go, k8s.io/apiserver/pkg/endpoints/handlers/rest.go.
 */

import { stringify } from '../encoding/json.ts'
import { type FieldError, invalid } from '../errors/fielderror.ts'
import { parseGroupVersion } from '../groupversion.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../types.ts'
import { defined } from '../value/defined.ts'

const FIELD = 'metadata.ownerReferences'

/** Reports whether two references identify the same owner. The uid alone is not enough: nobody has verified it. */
export const isSameOwner = (one: OwnerReference, other: OwnerReference): boolean =>
  one.uid === other.uid && one.name === other.name && one.kind === other.kind && one.apiVersion === other.apiVersion

/** Orders the members as Go encodes the struct. */
const asJson = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): JsonObject => ({
  apiVersion,
  kind,
  name,
  uid,
  ...defined({ controller, blockOwnerDeletion }),
})

function validateOne(reference: OwnerReference): FieldError[] {
  const { apiVersion, kind, name, uid } = reference
  const { group, version } = parseGroupVersion(apiVersion)
  const empty = { kind, name, uid }
  const isEvent = group === '' && version === 'v1' && kind === 'Event'
  return [
    ...(version === '' ? [invalid(`${FIELD}.apiVersion`, apiVersion, 'version must not be empty')] : []),
    ...Object.entries(empty)
      .filter(([, value]) => value === '')
      .map(([field, value]) => invalid(`${FIELD}.${field}`, value, 'must not be empty')),
    ...(isEvent ? [invalid(FIELD, asJson(reference), '/v1, Kind=Event is disallowed from being an owner')] : []),
  ]
}

/** Requires each reference to be complete and at most one to be the controller. As in Kubernetes, causes have no index. */
export function validateOwnerReferences(references: readonly OwnerReference[]): FieldError[] {
  let first = ''
  return references.flatMap((reference) => {
    const errors = validateOne(reference)
    if (!reference.controller) return errors
    const current = `${reference.kind}/${reference.name}`
    if (first === '') {
      first = current
      return errors
    }
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${current}`
    return [...errors, invalid(FIELD, references.map(asJson), why)]
  })
}

/** Removes each reference that equals an earlier one; `duplicates` contains the uids of removed references. */
function deduplicate(references: readonly OwnerReference[]): { kept: OwnerReference[]; duplicates: string[] } {
  const seen = new Set<string>()
  const [kept, duplicates]: [OwnerReference[], string[]] = [[], []]
  for (const reference of references) {
    const text = stringify(asJson(reference))
    if (seen.has(text)) duplicates.push(reference.uid)
    else kept.push(reference)
    seen.add(text)
  }
  return { kept, duplicates }
}

/**
 * Removes duplicate references from the object and warns about them. kube-apiserver checks bodies before admission, but
 * the results of patches only after it, and the warning says so.
 */
export function dedupeOwnerReferences(
  object: KubeObject,
  warn: (text: string) => void,
  source: 'body' | 'patch' = 'body',
): KubeObject {
  const { kept, duplicates } = deduplicate(object.metadata.ownerReferences ?? [])
  if (duplicates.length === 0) return object
  const when = source === 'patch' ? ' after mutating admission happens' : ''
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  )
  return { ...object, metadata: { ...object.metadata, ownerReferences: kept } }
}
