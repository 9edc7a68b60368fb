/** PATCH: JSON patch, JSON merge patch, server-side apply. Source: k8s.io/apiserver endpoints/handlers/patch.go. */
import { managementRequest } from '../../authorization/attributes/attributes.ts'
import { decodeApply, strictApplyError } from '../../meta/decoding/codecs.ts'
import { decodeObject } from '../../meta/decoding/decode.ts'
import type { Floats } from '../../meta/encoding/floats.ts'
import { conflict } from '../../meta/errors/status.ts'
import { apply, updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../meta/patch/jsonpatch.ts'
import { decodeMergePatch, mergePatch } from '../../meta/patch/mergepatch.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import type { CreateRequest } from '../../registry/create.ts'
import { groupResource, type KindInfo, type Subresource } from '../../registry/kind.ts'
import type { Outcome } from '../../registry/store.ts'
import { type Updated, update } from '../../registry/update.ts'
import { isGuarded, judgeFields } from '../decoding.ts'
import { type StoredExchange, type StoredPipeline, set } from '../exchange.ts'
import { asItIs, type Managing, writeManaged, writer } from '../managers.ts'
import { patchType } from '../negotiation/bodies.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'
import { patchTyped, sized, withOptions } from '../writestages.ts'
import { checkName, placed } from './addressed.ts'
import { asNew, demandCreate } from './create.ts'
import { respondOutcome } from './outcome.ts'

/** How an object comes out of the live one. The body is read only when there is one: a missing object is told first. */
interface Patcher {
  patch(live: KubeObject): Promise<Updated>
  /** Only an apply of the object itself creates what is missing. */
  create?(): Promise<CreateRequest>
}

/** A JSON patch or merge patch that was read. */
interface Change {
  apply(live: JsonObject): { value: JsonValue; floats: Floats }
  /** What its text says twice or without meaning. */
  findings: readonly string[]
  /** What of that would be a field of the object. */
  twice: readonly string[]
}

/** The patched text is read like a body, but its mistakes are 422. */
function patcher(exchange: StoredExchange, read: (body: Uint8Array, checked: boolean) => Change): Patcher {
  const { kind, request, context } = exchange
  const subresource = request.subresource as Subresource
  return {
    async patch(live) {
      const change = read(request.body, set(exchange.writeOptions, 'writeOptions').fieldValidation !== 'Ignore')
      const { value, floats } = change.apply(live)
      const decoded = decodeObject(value, kind, { source: 'patch', typeLater: true }, (found) =>
        judgeFields(
          exchange,
          kind,
          value,
          { duplicates: change.findings, strict: change.findings, guarded: change.twice },
          found,
          'patch',
        ),
      )
      const { object, secrets } = splitWriteOnly(placed(kind, decoded.object, request.namespace), kind.schema)
      checkName(object, request.name)
      const updated = dedupeOwnerReferences(object, context.warn, 'patch')
      return {
        object: updateManagers({ ...writer(exchange, kind, subresource), live, updated }),
        secrets,
        floats,
      }
    },
  }
}

function jsonPatch(body: Uint8Array, checked: boolean): Change {
  const { operations, duplicates, unknown } = decodeJsonPatch(body, checked)
  return { apply: (live) => applyJsonPatch(live, operations), findings: [...duplicates, ...unknown], twice: duplicates }
}

function mergedPatch(body: Uint8Array, checked: boolean): Change {
  const { patch, duplicates, floats } = decodeMergePatch(body, checked)
  const merged = (live: JsonObject) => (Array.isArray(patch) ? patch : mergePatch(live, patch))
  // What is merged keeps its path.
  return { apply: (live) => ({ value: merged(live), floats }), findings: duplicates, twice: duplicates }
}

/** Throws 409: who names a uid means an object that is there. */
function refuseUid(kind: KindInfo, { metadata: { uid } }: KubeObject, name: string): void {
  if (!uid) return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(groupResource(kind), name, why)
}

/** Duplicate keys are judged only after the rest of the configuration, as fieldValidation asks. */
function judgeDuplicates(exchange: StoredExchange, duplicates: readonly string[]): void {
  const { fieldValidation } = set(exchange.writeOptions, 'writeOptions')
  const isStrict = fieldValidation === 'Strict' || isGuarded(exchange, exchange.kind)
  if (isStrict && duplicates.length > 0) throw strictApplyError(duplicates)
  if (fieldValidation !== 'Ignore') for (const duplicate of duplicates) exchange.context.warn(duplicate)
}

function applier(exchange: StoredExchange): Patcher {
  const { kind, request, context } = exchange
  const subresource = request.subresource as Subresource
  const { force = false } = set(exchange.writeOptions, 'writeOptions')
  const applied = async (live: KubeObject | undefined): Promise<Updated> => {
    const { config, duplicates } = await decodeApply(request.body)
    const { object, secrets } = splitWriteOnly(config as KubeObject, kind.schema)
    const merged = apply({
      ...writer(exchange, kind, subresource),
      live,
      config: object,
      force,
    })
    judgeDuplicates(exchange, duplicates)
    const decoded = decodeObject(merged, kind, { keepNulls: true, lenientMeta: true })
    for (const warning of decoded.warnings) context.warn(warning)
    if (live === undefined) refuseUid(kind, decoded.object, request.name)
    const own = placed(kind, decoded.object, request.namespace)
    checkName(own, request.name)
    return { object: dedupeOwnerReferences(own, context.warn, 'patch'), secrets }
  }
  return {
    patch: applied,
    ...(subresource === '' && {
      async create() {
        demandCreate(exchange, 'patch')
        demandChainCreate(exchange)
        const { object, secrets } = await applied(undefined)
        const { resourceVersion = '' } = object.metadata
        parseResourceVersion(resourceVersion)
        // One that was sent means nothing, but what is only tried shows it.
        return { object: asNew(object), secrets, ...(context.dryRun && { resourceVersion }) }
      },
    }),
  }
}

/** An apply that creates needs what a create needs: the authorizer has judged only the patch. */
function demandChainCreate({ services, context, kind, request }: StoredExchange): void {
  const { name, namespace } = request
  services.demandChain(context, managementRequest({ ...groupResource(kind), verb: 'create', name, namespace }))
}

function patcherOf(exchange: StoredExchange): Patcher {
  switch (patchType(exchange.request.headers)) {
    case 'application/json-patch+json':
      return patcher(exchange, jsonPatch)
    case 'application/merge-patch+json':
      return patcher(exchange, mergedPatch)
    case 'application/apply-patch+yaml':
      return applier(exchange)
  }
}

/** 200 with the object as it is now, 201 where an apply has created it. Throws what `update` and the patch throw. */
export async function patchObject(exchange: StoredExchange): Promise<void> {
  const { request, context, store } = exchange
  const { namespace, name } = request
  const { patch, create } = patcherOf(exchange)
  const write = (managing: Managing): Promise<Outcome> =>
    update(
      store,
      {
        namespace,
        name,
        subresource: request.subresource as Subresource,
        verb: 'patch',
        transform: async (live) => {
          const patched = await patch(live)
          return { ...patched, object: managing(patched.object) }
        },
        ...(create && { createInstead: create }),
      },
      context,
    )
  // What is applied must be owned.
  const isApply = patchType(request.headers) === 'application/apply-patch+yaml'
  await respondOutcome(exchange, isApply ? await write(asItIs) : await writeManaged(write))
}

export const patchPipeline: StoredPipeline = {
  verb: 'patch',
  stages: [refuseImpersonation, patchTyped, checkNames, acceptable, sized, withOptions('PatchOptions'), patchObject],
}
