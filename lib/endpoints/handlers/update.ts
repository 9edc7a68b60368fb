/** PUT. Source: k8s.io/apiserver endpoints/handlers/update.go. */
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { Subresource } from '../../registry/kind.ts'
import { update } from '../../registry/update.ts'
import { decodeRequest } from '../decoding.ts'
import type { StoredExchange, StoredPipeline } from '../exchange.ts'
import { writeManaged, writer } from '../managers.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'
import { sized, typed, withOptions } from '../writestages.ts'
import { checkName, placed } from './addressed.ts'
import { respondOutcome } from './outcome.ts'

/** 200 with the object as it is now. Throws what decoding (400, 415, 422) and `update` throw. */
export async function updateObject(exchange: StoredExchange): Promise<void> {
  const { kind, context, request, store } = exchange
  const { namespace, name } = request
  const subresource = request.subresource as Subresource
  const { object: decoded, floats } = await decodeRequest(exchange, kind, { typeLater: true })
  const { object, secrets } = splitWriteOnly(placed(kind, decoded, namespace), kind.schema)
  checkName(object, name)
  const deduped = dedupeOwnerReferences(object, context.warn)
  const { uid, resourceVersion } = object.metadata
  const outcome = await writeManaged((managing) =>
    update(
      store,
      {
        namespace,
        name,
        subresource,
        verb: 'update',
        ...(uid && { uid }),
        ...(resourceVersion && { resourceVersion }),
        transform: (live) => ({
          object: managing(updateManagers({ ...writer(exchange, kind, subresource), live, updated: deduped })),
          secrets,
          floats,
        }),
      },
      context,
    ),
  )
  await respondOutcome(exchange, outcome)
}

export const updatePipeline: StoredPipeline = {
  verb: 'update',
  stages: [refuseImpersonation, checkNames, acceptable, sized, withOptions('UpdateOptions'), typed, updateObject],
}
