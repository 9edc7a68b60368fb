/** DELETE of an object and of a collection. Source: k8s.io/apiserver endpoints/handlers/delete.go. */
import { decodeBody } from '../../meta/codecs.ts'
import { badRequest, invalidObject } from '../../meta/errors.ts'
import { type FieldError, invalid, notSupported } from '../../meta/field.ts'
import type { JsonObject, JsonValue, Status } from '../../meta/types.ts'
import { isObject, own } from '../../meta/walk.ts'
import { type DeleteOptions, remove, removeAll } from '../../registry/delete.ts'
import { list } from '../../registry/read.ts'
import { bodyType } from '../bodies.ts'
import { decodeContinue, encodeContinue } from '../continuetoken.ts'
import { type StoredExchange, set } from '../exchange.ts'
import { dryRunErrors, listOptions } from '../options.ts'
import { first } from '../request.ts'
import { listBody, respond, respondObject } from '../respond.ts'
import { selectionOf } from '../selection.ts'

interface SentOptions {
  dryRun: readonly string[]
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
}

const policies = ['Foreground', 'Background', 'Orphan']

function text(object: JsonObject, name: string): string | undefined {
  const value = own(object, name)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw badRequest(`DeleteOptions: ${name} must be a string`)
  return value
}

function flag(object: JsonObject, name: string): boolean | undefined {
  const value = own(object, name)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw badRequest(`DeleteOptions: ${name} must be a boolean`)
  return value
}

function preconditionsOf(value: JsonValue | undefined): SentOptions['preconditions'] {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw badRequest('DeleteOptions: preconditions must be an object')
  const uid = text(value, 'uid')
  const resourceVersion = text(value, 'resourceVersion')
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) }
}

/** The options in a body: `DeleteOptions` of any served group version, or without a kind. */
function fromBody(value: JsonValue): SentOptions {
  if (!isObject(value)) throw badRequest('the body of a delete must be DeleteOptions')
  const kind = text(value, 'kind')
  if (kind && kind !== 'DeleteOptions')
    throw badRequest(`the body of a delete must be DeleteOptions, not ${JSON.stringify(kind)}`)
  const dryRun = own(value, 'dryRun') ?? []
  if (!Array.isArray(dryRun) || dryRun.some((one) => typeof one !== 'string')) {
    throw badRequest('DeleteOptions: dryRun must be a list of strings')
  }
  const propagationPolicy = text(value, 'propagationPolicy')
  const orphanDependents = flag(value, 'orphanDependents')
  const preconditions = preconditionsOf(own(value, 'preconditions'))
  return {
    dryRun: dryRun as string[],
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(preconditions && { preconditions }),
  }
}

function fromQuery({ request: { query } }: StoredExchange): SentOptions {
  const propagationPolicy = first(query, 'propagationPolicy')
  const orphan = first(query, 'orphanDependents')
  return {
    dryRun: query.get('dryRun') ?? [],
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphan !== undefined && { orphanDependents: !['false', '0'].includes(orphan.toLowerCase()) }),
  }
}

function validate({ dryRun, propagationPolicy, orphanDependents }: SentOptions): FieldError[] {
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalid('propagationPolicy', propagationPolicy, why))
  } else if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  }
  return [...errors, ...dryRunErrors(dryRun)]
}

/** From the body if there is one, else from the query, never both. Throws 400, 415, 422. */
async function optionsOf(exchange: StoredExchange): Promise<DeleteOptions> {
  const { body, headers } = exchange.request
  const sent =
    body.byteLength > 0
      ? fromBody((await decodeBody(body, bodyType(headers), { kind: 'DeleteOptions' })).value)
      : fromQuery(exchange)
  const errors = validate(sent)
  if (errors.length > 0) throw invalidObject('meta.k8s.io', 'DeleteOptions', '', errors)
  exchange.context.dryRun = sent.dryRun.length > 0
  const { propagationPolicy, orphanDependents, preconditions } = sent
  return {
    ...(propagationPolicy !== undefined && { propagationPolicy: propagationPolicy as 'Orphan' }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(preconditions && { preconditions }),
  }
}

/** Answers with a Status when the object is gone, with the object when finalizers hold it. */
export async function deleteObject(exchange: StoredExchange): Promise<void> {
  const { request, context, store, kind, warnings } = exchange
  const options = await optionsOf(exchange)
  const { gone, stored } = await remove(store, request, options, context)
  const output = set(exchange.output, 'output')
  const { name = '', uid = '' } = stored.object.metadata
  context.note('uid', uid)
  if (gone) {
    const details = { name, group: kind.group, kind: kind.plural, uid }
    const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    exchange.response = await respond(200, status, output, warnings)
    return
  }
  const code = options.orphanDependents === false ? 202 : 200
  const object = store.strategy.present?.(stored, context.now) ?? stored.object
  exchange.response = await respondObject(request, kind, object, output, code, warnings)
}

/** Answers with the list of the objects as they were before. */
export async function deleteCollection(exchange: StoredExchange): Promise<void> {
  const { request, context, store, kind, warnings } = exchange
  const listed = listOptions(request.query, false)
  const selection = selectionOf(kind, listed)
  const options = await optionsOf(exchange)
  const { namespace } = request
  const { rv: at, after } = listed.continue ? decodeContinue(listed.continue) : { rv: 0, after: undefined }
  const page = await list(
    store,
    {
      ...(namespace && { namespace }),
      ...(listed.limit > 0 && { limit: listed.limit }),
      ...(after !== undefined && { after: namespace ? `${namespace}/${after}` : after }),
      ...(at > 0 && { at }),
      ...(!selection.all && { matches: selection.matches }),
    },
    'deletecollection',
    context,
  )
  context.note('count', page.items.length)
  context.note(
    'names',
    page.items.map(({ key }) => key),
  )
  await removeAll(store, page.items, options, context)
  const next =
    page.next && encodeContinue({ rv: page.rv, after: namespace ? page.next.slice(namespace.length + 1) : page.next })
  const output = set(exchange.output, 'output')
  const objects = page.items.map((stored) => store.strategy.present?.(stored, context.now) ?? stored.object)
  const body = listBody(request, kind, objects, { resourceVersion: String(page.rv), continue: next }, output)
  exchange.response = await respond(200, body, output, warnings)
}
