/** DELETE of an object and of a collection. Source: k8s.io/apiserver endpoints/handlers/delete.go. */

import { decodeOptions, type MediaType } from '../../meta/decoding/codecs.ts'
import { NamedText } from '../../meta/encoding/badvalue.ts'
import { timeIsOver } from '../../meta/errors/deadline.ts'
import { type FieldError, invalid, notSupported } from '../../meta/errors/fielderror.ts'
import { invalidObject, type StatusError, tooManyRequests } from '../../meta/errors/status.ts'
import { decodeDeleteOptions, type SentDeleteOptions } from '../../meta/object/deleteoptions.ts'
import type { Status } from '../../meta/types.ts'
import { byBytes } from '../../meta/value/byteorder.ts'
import { type DeleteOptions, remove, removeAll } from '../../registry/delete.ts'
import { OutOfTime } from '../../registry/parallel.ts'
import { presented } from '../../registry/store.ts'
import { type StoredExchange, type StoredPipeline, set } from '../exchange.ts'
import { demandKey, keyCheck } from '../keycheck.ts'
import { metadataOf, pagesFrom, readPage, type Start, shown, startOf } from '../lists/page.ts'
import { selectionOf } from '../lists/selection.ts'
import { listPieces } from '../lists/text.ts'
import { bodyType } from '../negotiation/bodies.ts'
import { dryRunErrors, flag, integer, listOptions } from '../options.ts'
import { first } from '../request.ts'
import { respond, respondObject } from '../respond.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'
import { sized } from '../writestages.ts'

const policies = ['Foreground', 'Background', 'Orphan']

/** Throws 400 for numbers that are none. */
function fromQuery({ request: { query } }: StoredExchange): SentDeleteOptions {
  integer(query, 'gracePeriodSeconds')
  const propagationPolicy = first(query, 'propagationPolicy')
  const orphanDependents = flag(query, 'orphanDependents')
  const uid = first(query, 'uid')
  const resourceVersion = first(query, 'resourceVersion')
  return {
    dryRun: query.get('dryRun') ?? [],
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...((uid || resourceVersion) && {
      preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    }),
  }
}

async function fromBody(body: Uint8Array, type: MediaType): Promise<SentDeleteOptions> {
  const { value, floats } = await decodeOptions(body, type)
  return decodeDeleteOptions(value, floats)
}

function validate({ dryRun, propagationPolicy, orphanDependents }: SentDeleteOptions): FieldError[] {
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalid('propagationPolicy', new NamedText(propagationPolicy), why))
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', new NamedText(propagationPolicy), [...policies, 'nil']))
  }
  return [...errors, ...dryRunErrors(dryRun)]
}

/** From the body if there is one, else from the query, never both. Throws 400, 415, 422. */
async function optionsOf(exchange: StoredExchange): Promise<DeleteOptions> {
  const { body, headers } = exchange.request
  const sent = body.byteLength > 0 ? await fromBody(body, bodyType(headers)) : fromQuery(exchange)
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

const success = (details: NonNullable<Status['details']>): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
})

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
    exchange.response = await respond(200, success(details), output, warnings)
    return
  }
  const code = options.orphanDependents === false ? 202 : 200
  const object = presented(store, stored, context)
  exchange.response = await respondObject(request, kind, object, output, code, warnings)
}

/** What an answer may have that is sent as one text, written as JSON: Lambda takes 6 MB with what surrounds it. */
const answerBytes = 5.5 * 1024 * 1024

/** The text of a list, all of which is made; undefined where it is more than an answer may have. */
async function boundedText(pieces: AsyncIterable<string>): Promise<string | undefined> {
  const kept: string[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += Buffer.byteLength(JSON.stringify(piece))
    if (bytes <= answerBytes) kept.push(piece)
    else kept.length = 0
  }
  return bytes <= answerBytes ? kept.join('') : undefined
}

/** Of the time of a request, what is left for the objects whose deletion has begun, and for the answer. */
const reserveMs = 4_000

/**
 * The answer where there are more objects than one request can delete. Clients send a request again by themselves that is
 * answered so (client-go, and so kubectl), and each goes on where the one before it ended.
 */
function unfinished({ context: { dryRun } }: StoredExchange, count: number, cause: unknown): StatusError {
  if (dryRun || count === 0) return timeIsOver(cause)
  const what = `${count} ${count === 1 ? 'object has' : 'objects have'} been deleted`
  return tooManyRequests(
    `the collection has more objects than one request can delete: ${what}, repeat it for the others`,
    1,
  )
}

/**
 * Answers with the list of the objects as they were before, with a Status where no answer can hold that. Throws 429 when
 * the time is over before all are deleted.
 */
export async function deleteCollection(exchange: StoredExchange): Promise<void> {
  const { request, context, store, kind, warnings } = exchange
  const listed = listOptions(request.query, false)
  const selection = selectionOf(kind, listed)
  const options = await optionsOf(exchange)
  const check = await keyCheck(exchange)
  const { namespace } = request
  const isLimited = listed.limit > 0
  const start = startOf(exchange, listed, selection, true)
  const read = (from: Start) => readPage(exchange, selection, from, listed.limit, 'deletecollection')
  const first = await read(start)
  const names: string[] = []
  let holds = true
  const removal = {
    options,
    hasTime: () => holds && context.deadline() > reserveMs,
    async done(key: string) {
      names.push(key)
      holds = await check()
    },
  }
  /** Each page goes before the next one is read: no more than one is held. */
  async function* deleted() {
    for await (const page of isLimited ? [first] : pagesFrom(first, read)) {
      await removeAll(store, page.items, removal, context)
      yield shown(exchange, page)
    }
  }
  const output = set(exchange.output, 'output')
  const metadata = metadataOf(first, selection, { namespace, isLimited })
  try {
    const text = await boundedText(await listPieces({ request, kind, metadata, output, pages: deleted() }))
    exchange.response =
      text === undefined
        ? await respond(200, success({ group: kind.group, kind: kind.plural }), output, warnings)
        : { status: 200, headers: { 'content-type': output.mediaType }, warnings, body: text }
  } catch (error) {
    await demandKey(check)
    throw error instanceof OutOfTime ? unfinished(exchange, names.length, error) : error
  } finally {
    context.note('count', names.length)
    // Several go at a time: in the order of the list, whichever was first.
    context.note('names', names.sort(byBytes))
  }
}

export const deletePipeline: StoredPipeline = {
  verb: 'delete',
  stages: [refuseImpersonation, checkNames, acceptable, sized, deleteObject],
}

export const deleteCollectionPipeline: StoredPipeline = {
  verb: 'deletecollection',
  stages: [refuseImpersonation, checkNames, acceptable, sized, deleteCollection],
}
