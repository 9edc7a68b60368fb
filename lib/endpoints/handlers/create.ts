/** POST of a stored object. Source: k8s.io/apiserver endpoints/handlers/create.go. */
import { badRequest } from '../../meta/errors.ts'
import { updateManagers } from '../../meta/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/ownerreferences.ts'
import { wipeForCreate } from '../../meta/systemmeta.ts'
import type { KubeObject } from '../../meta/types.ts'
import { joinWriteOnly, splitWriteOnly } from '../../meta/writeonly.ts'
import { type CreateRequest, create } from '../../registry/create.ts'
import type { StoredKind } from '../../registry/kind.ts'
import { accessToCreate, noteRule, type Outcome, presented, refusal } from '../../registry/store.ts'
import { decodeRequest } from '../bodies.ts'
import { type StoredExchange, set } from '../exchange.ts'
import { writer } from '../managers.ts'
import { respondObject } from '../respond.ts'

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

/** Puts an object into the namespace of its path; cluster-scoped kinds have none. Throws 400 when they differ. */
export function placed(kind: Pick<StoredKind, 'scope'>, object: KubeObject, namespace: string): KubeObject {
  const { namespace: own, ...metadata } = object.metadata
  if (kind.scope === 'Cluster') return { ...object, metadata }
  if (own && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

/** Without what is the server's in a new object. */
export function asNew({ status: _, ...object }: KubeObject): KubeObject {
  return { ...object, metadata: wipeForCreate(object.metadata) }
}

/** The answer to a write: as a read shows it, and with what is revealed once. */
export async function respondOutcome(exchange: StoredExchange, { stored, draft, created }: Outcome): Promise<void> {
  const { store, context, kind, request, warnings } = exchange
  const { name = '', uid = '' } = stored.object.metadata
  context.note('name', name)
  context.note('uid', uid)
  const shown = presented(store, stored, context.now)
  const object = created && draft?.reveal && !context.dryRun ? joinWriteOnly(shown, draft.reveal) : shown
  exchange.response = await respondObject(
    request,
    kind,
    object,
    set(exchange.output, 'output'),
    created ? 201 : 200,
    warnings,
  )
}

/** 201 with the object, its write-only values shown once. Throws what decoding (400, 415, 422) and `create` throw. */
export async function createObject(exchange: StoredExchange): Promise<void> {
  const { kind, context, request, store } = exchange
  demandCreate(exchange, 'create')
  const { object: decoded } = await decodeRequest(exchange, kind, { typeLater: true })
  const own = placed(kind, decoded, request.namespace)
  const { object, secrets } = splitWriteOnly({ ...own, metadata: wipeForCreate(own.metadata) }, kind.schema)
  const deduped = dedupeOwnerReferences(object, context.warn)
  // The status is dropped only now: one of other types than the schema's leaves the object without managers.
  const managed = asNew(updateManagers({ ...writer(exchange, kind, ''), live: undefined, updated: deduped }))
  const { resourceVersion } = decoded.metadata
  const toCreate: CreateRequest = { object: managed, secrets, ...(resourceVersion && { resourceVersion }) }
  await respondOutcome(exchange, await create(store, toCreate, context))
}
