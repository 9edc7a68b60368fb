/** Validates every object before it is stored: metadata, then the schema. Causes have this order. */
import { typeErrors } from '../meta/decoding/decode.ts'
import { type FieldError, findingsOf, forbidden, tooMany } from '../meta/errors/fielderror.ts'
import { validateMeta, validateMetaUpdate } from '../meta/object/validatemeta.ts'
import { PROGRAM_GROUP } from '../meta/program.ts'
import { misplacedCredentials } from '../meta/schema/misplaced.ts'
import { validateSchema } from '../meta/schema/validate.ts'
import { joinWriteOnly } from '../meta/schema/writeonly.ts'
import type { KubeObject, ObjectMeta } from '../meta/types.ts'
import { own } from '../meta/value/walk.ts'
import type { Draft, KindInfo, Subresource } from './kind.ts'

/** One transaction holds 100 items: row, slot, credential, index partitions and both sides of a change of owners. */
const maxOwnerReferences = 40

/**
 * Kubernetes has no such limit: it keeps ten managers that update, and any number that apply. No legitimate set of appliers
 * reaches this number, and every write processes each manager.
 */
const maxManagers = 1000

/**
 * Validates the number of list entries first, and alone: errors about owner references quote all of them. An object that already
 * has more managers keeps them.
 */
function validateCounts({ metadata }: KubeObject, old?: KubeObject): FieldError[] {
  const owners = metadata.ownerReferences?.length ?? 0
  const managers = metadata.managedFields?.length ?? 0
  const mostManagers = Math.max(maxManagers, old?.metadata.managedFields?.length ?? 0)
  return [
    ...(owners > maxOwnerReferences ? [tooMany('metadata.ownerReferences', owners, maxOwnerReferences)] : []),
    ...(managers > mostManagers ? [tooMany('metadata.managedFields', managers, maxManagers)] : []),
  ]
}

/**
 * Labels with this prefix stay as the server has set them. Lists select objects by them, so a client that could
 * change one would decide which objects they find.
 */
const PREFIX = `${PROGRAM_GROUP}/`

/** Returns the 422 errors for labels of the server that a client adds, changes or removes. */
function validateServerLabels({ labels = {} }: ObjectMeta, { labels: old = {} }: ObjectMeta = {}): FieldError[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(labels)])]
  return findingsOf(names.filter((name) => name.startsWith(PREFIX)).sort(), (name) =>
    own(labels, name) === own(old, name)
      ? []
      : [forbidden('metadata.labels', `${name}: only the server sets labels of ${PREFIX}`)],
  )
}

/** Validates a new object. For an object of another kind, reports only the wrong type. */
export function validateNew(kind: KindInfo, { object, secrets, floats }: Draft): FieldError[] {
  const wrongType = typeErrors(object, kind)
  if (wrongType.length > 0) return wrongType
  const counts = validateCounts(object)
  if (counts.length > 0) return counts
  return [
    ...validateMeta(object.metadata, { namespaced: kind.scope === 'Namespaced' }),
    ...validateServerLabels(object.metadata),
    ...validateSchema(joinWriteOnly(object, secrets), kind.schema, '', undefined, floats),
    ...misplacedCredentials(object),
  ]
}

/** Validates a change in the order of kube-apiserver: metadata changes that no kind allows come before the type. */
export function validateChange(
  kind: KindInfo,
  { object, secrets, floats }: Draft,
  old: KubeObject,
  subresource: Subresource,
): FieldError[] {
  const counts = validateCounts(object, old)
  if (counts.length > 0) return counts
  const [common, other] = validateMetaUpdate(object.metadata, old.metadata, { namespaced: kind.scope === 'Namespaced' })
  const wrongType = typeErrors(object, kind)
  if (wrongType.length > 0) return [...common, ...wrongType]
  return [
    ...common,
    ...other,
    ...validateServerLabels(object.metadata, old.metadata),
    ...validateSchema(joinWriteOnly(object, secrets), kind.schema, subresource, old, floats),
    ...misplacedCredentials(object, old),
  ]
}
