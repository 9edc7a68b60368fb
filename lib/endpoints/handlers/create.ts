/** POST of a stored object. Source: k8s.io/apiserver endpoints/handlers/create.go. */
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { wipeForCreate } from '../../meta/object/system.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../meta/types.ts'
import { type CreateRequest, create } from '../../registry/create.ts'
import { accessToCreate, noteRule, refusal } from '../../registry/store.ts'
import { decodeRequest } from '../decoding.ts'
import type { StoredExchange, StoredPipeline } from '../exchange.ts'
import { writeManaged, writer } from '../managers.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'
import { sized, typed, withOptions } from '../writestages.ts'
import { placed } from './addressed.ts'
import { respondOutcome } from './outcome.ts'

/** Throws 403 unless this user may create objects of the kind at all; the particulars are judged with the object. */
export function demandCreate({ store, kind, context, request }: StoredExchange, verb: 'create' | 'patch'): void {
  const access = accessToCreate(store, context)
  if (access.type === 'allowed') {
    noteRule(access, context)
    return
  }
  const { namespace, name } = request
  throw refusal(kind, access, { verb, subresource: '', namespace, name }, context)
}

/** Without what is the server's in a new object. */
export function asNew({ status: _, ...object }: KubeObject): KubeObject {
  return { ...object, metadata: wipeForCreate(object.metadata) }
}

/** 201 with the object, its write-only values shown once. Throws what decoding (400, 415, 422) and `create` throw. */
export async function createObject(exchange: StoredExchange): Promise<void> {
  const { kind, context, request, store } = exchange
  demandCreate(exchange, 'create')
  const { object: decoded, floats } = await decodeRequest(exchange, kind, { typeLater: true })
  const own = placed(kind, decoded, request.namespace)
  const { object, secrets } = splitWriteOnly({ ...own, metadata: wipeForCreate(own.metadata) }, kind.schema)
  const deduped = dedupeOwnerReferences(object, context.warn)
  // The status is dropped only now: one of other types than the schema's leaves the object without managers.
  const managed = asNew(updateManagers({ ...writer(exchange, kind, ''), live: undefined, updated: deduped }))
  const { resourceVersion } = decoded.metadata
  const rest: Omit<CreateRequest, 'object'> = { secrets, floats, ...(resourceVersion && { resourceVersion }) }
  const outcome = await writeManaged((managing) => create(store, { object: managing(managed), ...rest }, context))
  await respondOutcome(exchange, outcome)
}

export const createPipeline: StoredPipeline = {
  verb: 'create',
  stages: [refuseImpersonation, checkNames, acceptable, typed, sized, withOptions('CreateOptions'), createObject],
}
