/** What is checked of every object before it is stored: metadata, then the schema. Causes come in this order. */
import type { FieldError } from '../meta/field.ts'
import { invalid, tooMany } from '../meta/field.ts'
import type { KubeObject } from '../meta/types.ts'
import { finalizerWarnings, validateMeta, validateMetaUpdate } from '../meta/validatemeta.ts'
import { validateSchema } from '../meta/validateschema.ts'
import { joinWriteOnly } from '../meta/writeonly.ts'
import { type Draft, groupVersion, type KindInfo, type Strategy, type Subresource } from './kind.ts'

/** One transaction holds 100 items: row, slot, credential, index partitions and both sides of a change of owners. */
const maxOwnerReferences = 40

function validateType(kind: KindInfo, object: KubeObject): FieldError[] {
  const version = groupVersion(kind)
  return [
    ...(object.apiVersion === version ? [] : [invalid('apiVersion', object.apiVersion, `must be ${version}`)]),
    ...(object.kind === kind.kind ? [] : [invalid('kind', object.kind, `must be ${kind.kind}`)]),
  ]
}

function validateOwnerCount({ metadata }: KubeObject): FieldError[] {
  const count = metadata.ownerReferences?.length ?? 0
  return count > maxOwnerReferences ? [tooMany('metadata.ownerReferences', count, maxOwnerReferences)] : []
}

export function validateNew(kind: KindInfo, { object, secrets }: Draft): FieldError[] {
  return [
    ...validateType(kind, object),
    ...validateMeta(object.metadata, { namespaced: kind.scope === 'Namespaced' }),
    ...validateOwnerCount(object),
    ...validateSchema(joinWriteOnly(object, secrets), kind.schema),
  ]
}

export function validateChange(
  kind: KindInfo,
  { object, secrets }: Draft,
  old: KubeObject,
  subresource: Subresource,
): FieldError[] {
  return [
    ...validateMetaUpdate(object.metadata, old.metadata, { namespaced: kind.scope === 'Namespaced' }),
    ...validateType(kind, object),
    ...validateOwnerCount(object),
    ...validateSchema(joinWriteOnly(object, secrets), kind.schema, subresource, old),
  ]
}

/** Texts for Warning headers: about finalizers, and what the kind has to say. */
export const warningsOf = (
  { strategy }: { strategy: Strategy },
  draft: Draft,
  old: KubeObject | undefined,
): readonly string[] => [
  ...finalizerWarnings(draft.object.metadata, old?.metadata),
  ...(strategy.warnings?.(draft) ?? []),
]
