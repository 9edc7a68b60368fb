/**
 * Validates metadata on creation and update, with Kubernetes' messages and order of causes.
 * Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go, apis/meta/v1/validation,
 * k8s.io/apiserver/pkg/registry/rest/{create,update,meta}.go.
 */
import { annotationBytes, MAX_ANNOTATION_BYTES } from '../annotations.ts'
import { NamedText } from '../encoding/badvalue.ts'
import { quote } from '../encoding/gotext.ts'
import {
  eachInvalid,
  type FieldError,
  findingsOf,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../errors/fielderror.ts'
import type { JsonValue, ManagedFieldsEntry, ObjectMeta } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { deepEqual } from '../value/equal.ts'
import { sortedEntries } from '../value/walk.ts'
import { validateFieldManager } from './managername.ts'
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  maskTrailingDash,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './names.ts'
import { validateOwnerReferences } from './ownerreferences.ts'

interface MetaRules {
  namespaced: boolean
}

type NameRule = (name: string, prefix: boolean) => string[]

const subdomain: NameRule = (name, prefix) => dnsSubdomainErrors(prefix ? maskTrailingDash(name) : name)
/** Validates the names of kinds whose names are DNS labels. */
export const labelNames: NameRule = (name, prefix) => dnsLabelErrors(prefix ? maskTrailingDash(name) : name)

function validateNames({ name = '', generateName = '' }: ObjectMeta, rule: NameRule): FieldError[] {
  return [
    ...(generateName ? eachInvalid('metadata.generateName', generateName, rule(generateName, true)) : []),
    ...(name
      ? eachInvalid('metadata.name', name, rule(name, false))
      : [required('metadata.name', 'name or generateName is required')]),
  ]
}

function validateNamespace({ namespace = '' }: ObjectMeta, { namespaced }: MetaRules): FieldError[] {
  const field = 'metadata.namespace'
  if (!namespaced) return namespace ? [forbidden(field, 'not allowed on this type')] : []
  return namespace ? eachInvalid(field, namespace, dnsLabelErrors(namespace)) : [required(field)]
}

function validateLabels({ labels = {} }: ObjectMeta): FieldError[] {
  const field = 'metadata.labels'
  return findingsOf(sortedEntries(labels), ([key, value]) => [
    ...eachInvalid(field, key, qualifiedNameErrors(key)),
    ...eachInvalid(field, value, labelValueErrors(value)),
  ])
}

/** Checks keys in lower case: unlike that of a label, the prefix may contain capitals. */
function validateAnnotations({ annotations = {} }: ObjectMeta): FieldError[] {
  const field = 'metadata.annotations'
  return [
    ...findingsOf(sortedEntries(annotations), ([key]) =>
      eachInvalid(field, key, qualifiedNameErrors(key.toLowerCase())),
    ),
    ...(annotationBytes(annotations) > MAX_ANNOTATION_BYTES ? [tooLong(field, MAX_ANNOTATION_BYTES)] : []),
  ]
}

function validateFinalizers({ finalizers = [] }: ObjectMeta): FieldError[] {
  const field = 'metadata.finalizers'
  const both = finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')
  return [
    ...findingsOf(finalizers, (finalizer) => eachInvalid(field, finalizer, qualifiedNameErrors(finalizer))),
    ...(both ? [invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')] : []),
  ]
}

const MAX_SUBRESOURCE_BYTES = 256

function validateManagedFields(entries: readonly ManagedFieldsEntry[]): FieldError[] {
  return findingsOf(entries, ({ operation, fieldsType, manager = '', subresource = '' }, index) => {
    const path = `metadata.managedFields[${index}]`
    const known = operation === 'Apply' || operation === 'Update'
    return [
      ...(known ? [] : [invalid(`${path}.operation`, operation ?? '', 'must be `Apply` or `Update`')]),
      ...(!fieldsType || fieldsType === 'FieldsV1'
        ? []
        : [invalid(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`')]),
      ...validateFieldManager(manager, `${path}.manager`),
      ...(Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES
        ? [tooLong(`${path}.subresource`, MAX_SUBRESOURCE_BYTES)]
        : []),
    ]
  })
}

/** Returns the errors in the metadata of a new object, after its name was generated. */
export function validateMeta(metadata: ObjectMeta, rules: MetaRules, names: NameRule = subdomain): FieldError[] {
  return [
    ...validateNames(metadata, names),
    ...validateNamespace(metadata, rules),
    ...validateLabels(metadata),
    ...validateAnnotations(metadata),
    ...validateOwnerReferences(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata),
    ...validateManagedFields(metadata.managedFields ?? []),
  ]
}

/** Formats a sorted string slice in Go syntax. */
const goSlice = (texts: readonly string[]): string => `[]string{${[...texts].sort(byBytes).map(quote).join(', ')}}`

function validateNoNewFinalizers(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  if (!old.deletionTimestamp) return []
  const extra = new Set(metadata.finalizers).difference(new Set(old.finalizers))
  if (extra.size === 0) return []
  const why = 'no new finalizers can be added if the object is being deleted, found new finalizers'
  return [forbidden('metadata.finalizers', `${why} ${goSlice([...extra])}`)]
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function validateUnchanged(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  return IMMUTABLE.filter((field) => !deepEqual(metadata[field], old[field])).map((field) => {
    const value: JsonValue = metadata[field] ?? (field.startsWith('deletion') ? null : '')
    const shown = field === 'uid' ? new NamedText(String(value)) : value
    return invalid(`metadata.${field}`, shown, 'field is immutable')
  })
}

function validateTransition(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  return [
    ...validateNoNewFinalizers(metadata, old),
    ...validateUnchanged(metadata, old),
    ...validateLabels(metadata),
    ...validateAnnotations(metadata),
    ...validateOwnerReferences(metadata.ownerReferences ?? []),
    ...validateManagedFields(metadata.managedFields ?? []),
  ]
}

/**
 * Returns the errors in the metadata of an update, after `fixupForUpdate`: the common ones, then those of custom resources.
 * Most errors occur three times, as in kube-apiserver's responses for custom resources: the rules for all objects, for
 * all updates and for custom resources run one after another.
 */
export function validateMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  rules: MetaRules,
): readonly [common: FieldError[], own: FieldError[]] {
  const transition = validateTransition(metadata, old)
  return [[...validateMeta(metadata, rules, pathSegmentErrors), ...transition], transition]
}
