/** PATCH: JSON patch, JSON merge patch, server-side apply. Source: k8s.io/apiserver endpoints/handlers/patch.go. */
import { decodeApply } from '../../meta/codecs.ts'
import { decodeObject } from '../../meta/decode.ts'
import { conflict } from '../../meta/errors.ts'
import { apply, updateManagers } from '../../meta/fieldmanager.ts'
import { decodeMergePatch, mergePatch } from '../../meta/mergepatch.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../meta/patch.ts'
import { parseResourceVersion } from '../../meta/resourceversion.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import { dedupeOwnerReferences } from '../../meta/validatemeta.ts'
import { splitWriteOnly } from '../../meta/writeonly.ts'
import type { CreateRequest } from '../../registry/create.ts'
import { groupResource, type KindInfo, type Subresource } from '../../registry/kind.ts'
import { type Updated, update } from '../../registry/update.ts'
import { judgeFields, patchType } from '../bodies.ts'
import { type StoredExchange, set } from '../exchange.ts'
import { writer } from '../managers.ts'
import { asNew, demandCreate, placed, respondOutcome } from './create.ts'
import { checkName, settled } from './update.ts'

/** How an object comes out of the live one; `undefined` = nothing is there. */
interface Patcher {
  patch(live: KubeObject): Updated
  /** Only an apply of the object itself creates what is missing. */
  create?(): CreateRequest
}

/** JSON patch and merge patch: patched text is read like a body, its mistakes are 422. */
function patcher(
  exchange: StoredExchange,
  change: (live: JsonObject) => JsonValue,
  duplicates: readonly string[],
): Patcher {
  const { kind, request, context } = exchange
  const subresource = request.subresource as Subresource
  return {
    patch(live) {
      const value = change(live as unknown as JsonObject)
      const decoded = decodeObject(value, kind, { source: 'patch' })
      judgeFields(exchange, kind, value, duplicates, decoded, 'patch')
      const { object, secrets } = splitWriteOnly(placed(kind, decoded.object, request.namespace), kind.schema)
      checkName(object, request.name)
      const updated = dedupeOwnerReferences(object, context.warn, 'patch')
      return {
        object: settled(live, updateManagers({ ...writer(exchange, kind, subresource), live, updated })),
        secrets,
      }
    },
  }
}

/** Throws 409: who names a uid means an object that is there. */
function refuseUid(kind: KindInfo, { metadata: { uid } }: KubeObject, name: string): void {
  if (!uid) return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(groupResource(kind), name, why)
}

function applier(exchange: StoredExchange, config: JsonObject): Patcher {
  const { kind, request, context } = exchange
  const subresource = request.subresource as Subresource
  const { force = false } = set(exchange.writeOptions, 'writeOptions')
  const parts = splitWriteOnly(config as unknown as KubeObject, kind.schema)
  const applied = (live: KubeObject | undefined): KubeObject => {
    const merged = apply({
      ...writer(exchange, kind, subresource),
      live,
      config: parts.object as unknown as JsonObject,
      force,
    })
    const { object, warnings } = decodeObject(merged as unknown as JsonValue, kind, {
      keepNulls: true,
      lenientMeta: true,
    })
    for (const warning of warnings) context.warn(warning)
    const own = placed(kind, object, request.namespace)
    if (live === undefined) refuseUid(kind, own, request.name)
    checkName(own, request.name)
    return dedupeOwnerReferences(own, context.warn, 'patch')
  }
  return {
    patch: (live) => ({ object: settled(live, applied(live)), secrets: parts.secrets }),
    ...(subresource === '' && {
      create: () => {
        demandCreate(exchange, 'patch')
        demandChainCreate(exchange)
        const object = applied(undefined)
        const { resourceVersion = '', ...metadata } = object.metadata
        parseResourceVersion(resourceVersion)
        return { object: asNew({ ...object, metadata }), secrets: parts.secrets }
      },
    }),
  }
}

/** An apply that creates needs what a create needs: the authorizer has judged only the patch. */
function demandChainCreate({ services, context, kind, request }: StoredExchange): void {
  services.demandChain(context, {
    kind: 'resource',
    target: { type: 'Management' },
    verb: 'create',
    group: kind.group,
    resource: kind.plural,
    subresource: '',
    name: request.name,
    namespace: request.namespace,
  })
}

async function patcherOf(exchange: StoredExchange): Promise<Patcher> {
  const { headers, body } = exchange.request
  switch (patchType(headers)) {
    case 'application/json-patch+json': {
      const { operations, unknown } = decodeJsonPatch(body)
      return patcher(exchange, (live) => applyJsonPatch(live, operations), unknown)
    }
    case 'application/merge-patch+json': {
      const { patch, duplicates } = decodeMergePatch(body)
      return patcher(exchange, (live) => mergePatch(live, patch), duplicates)
    }
    case 'application/apply-patch+yaml':
      return applier(
        exchange,
        await decodeApply(body, set(exchange.writeOptions, 'writeOptions').fieldValidation, exchange.context.warn),
      )
  }
}

export async function patchObject(exchange: StoredExchange): Promise<void> {
  const { request, context, store } = exchange
  const { namespace, name } = request
  const { patch, create } = await patcherOf(exchange)
  const outcome = await update(
    store,
    {
      namespace,
      name,
      subresource: request.subresource as Subresource,
      verb: 'patch',
      transform: patch,
      ...(create && { createInstead: create }),
    },
    context,
  )
  await respondOutcome(exchange, outcome)
}
