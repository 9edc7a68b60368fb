/** DELETE of an object, and of a collection. Source: k8s.io/apiserver endpoints/handlers/delete.go. */

import { decodeOptions } from '../../meta/decoding/codecs.ts'
import { NamedText } from '../../meta/encoding/badvalue.ts'
import { deadlineExceeded } from '../../meta/errors/deadline.ts'
import { type FieldError, invalid, notSupported } from '../../meta/errors/fielderror.ts'
import { invalidObject, type StatusError, tooManyRequests } from '../../meta/errors/status.ts'
import { decodeDeleteOptions, type SentDeleteOptions } from '../../meta/object/deleteoptions.ts'
import type { Status } from '../../meta/types.ts'
import { byBytes } from '../../meta/value/byteorder.ts'
import { defined, filled } from '../../meta/value/defined.ts'
import { isObject } from '../../meta/value/walk.ts'
import { type DeleteOptions, deleteObject, deleteObjects } from '../../registry/delete.ts'
import { OutOfTime } from '../../registry/parallel.ts'
import { presentObject } from '../../registry/store.ts'
import type { Handler, StoredCall } from '../call.ts'
import { ensureCredentialHolds, startCredentialCheck } from '../credentialcheck.ts'
import { listOptions, refuseNamePrefix, refuseSelectorLookalikes } from '../lists/listoptions.ts'
import { openCollection, presentPage, startOf } from '../lists/page.ts'
import { selectionOf } from '../lists/selection.ts'
import { listPieces } from '../lists/text.ts'
import { bodyType } from '../negotiation/bodies.ts'
import { dryRunErrors, queryFlag, queryInteger, withDryRun } from '../options.ts'
import { type ApiRequest, type ApiResponse, queryValue } from '../request.ts'
import { beginDelete } from '../requestchecks.ts'
import { respond, respondObject } from '../respond.ts'

const policies = ['Foreground', 'Background', 'Orphan']

/** Throws 400 for a gracePeriodSeconds that is not a number. */
function fromQuery(query: ApiRequest['query']): SentDeleteOptions {
  queryInteger(query, 'gracePeriodSeconds')
  const propagationPolicy = queryValue(query, 'propagationPolicy')
  const orphanDependents = queryFlag(query, 'orphanDependents')
  const uid = queryValue(query, 'uid')
  const resourceVersion = queryValue(query, 'resourceVersion')
  return {
    dryRun: query.get('dryRun') ?? [],
    ...defined({ propagationPolicy, orphanDependents }),
    ...((uid || resourceVersion) && { preconditions: filled({ uid, resourceVersion }) }),
  }
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

/** Returns the options in the body, or those in the query if there is no body. Throws 400, 415, 422. */
async function deleteOptions(
  { body, headers, query }: ApiRequest,
  { isCollection }: { isCollection: boolean },
): Promise<DeleteOptions & { dryRun: boolean }> {
  const decoded = body.byteLength > 0 ? await decodeOptions(body, bodyType(headers)) : undefined
  if (isCollection) refuseSelectorLookalikes(query, isObject(decoded?.value) ? Object.keys(decoded.value) : [])
  const sent = decoded ? decodeDeleteOptions(decoded.value, decoded.floats) : fromQuery(query)
  const errors = validate(sent)
  if (errors.length > 0) throw invalidObject('meta.k8s.io', 'DeleteOptions', '', errors)
  const { propagationPolicy, orphanDependents, preconditions } = sent
  const policy = propagationPolicy as DeleteOptions['propagationPolicy']
  return { dryRun: sent.dryRun.length > 0, ...defined({ propagationPolicy: policy, orphanDependents, preconditions }) }
}

const success = (details: NonNullable<Status['details']>): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details,
})

/** Answers with a Status once the object is gone, or with the object while finalizers keep it. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { request, store, kind, warnings } = call
  const output = beginDelete(call)
  const { dryRun, ...options } = await deleteOptions(request, { isCollection: false })
  const context = withDryRun(call.context, dryRun)

  const { gone, stored } = await deleteObject(store, request, options, context)
  const { name = '', uid = '' } = stored.object.metadata
  context.note('uid', uid)
  if (gone) return respond(200, success({ name, group: kind.group, kind: kind.plural, uid }), output, warnings)
  const code = options.orphanDependents === false ? 202 : 200
  return respondObject(request, kind, presentObject(store, stored, context), output, code, warnings)
}

/** The most bytes of an answer's text as a JSON string: Lambda's limit is 6 MB including the envelope. */
const answerBytes = 5.5 * 1024 * 1024

/** Joins the pieces of a list; undefined when they exceed an answer. Consumes all pieces in either case, which deletes the objects. */
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

/** The time kept back for deletions in progress and for the answer. */
const reserveMs = 4_000

/**
 * Returns the 429 for a collection that one request cannot delete. client-go, and so kubectl, repeats such a request, and each
 * request continues where the last one stopped.
 */
function unfinishedError(dryRun: boolean, count: number, cause: unknown): StatusError {
  if (dryRun || count === 0) return deadlineExceeded(cause)
  const what = `${count} ${count === 1 ? 'object has' : 'objects have'} been deleted`
  return tooManyRequests(
    `the collection has more objects than one request can delete: ${what}, repeat it for the others`,
    1,
  )
}

/**
 * Answers with the list of the deleted objects as they were before, or with a Status when that list exceeds an answer. Throws
 * 429 when time runs out before all objects are deleted.
 */
async function handleCollection(call: StoredCall): Promise<ApiResponse> {
  const { request, store, services, kind, warnings } = call
  const output = beginDelete(call)
  refuseNamePrefix(request.query)
  const listed = listOptions(request.query, false)
  const { limit } = listed
  const selection = selectionOf(kind, listed, { strategy: store.strategy, user: call.context.user })
  const { dryRun, ...options } = await deleteOptions(request, { isCollection: true })
  const context = withDryRun(call.context, dryRun)

  const check = await startCredentialCheck(context, services)
  // A resourceVersion is exact here even without a limit.
  const start = startOf(call, listed, selection, true)
  const opening = { verb: 'deletecollection', selection, start, limit, pageSize: 0 } as const
  const { metadata, pages } = await openCollection(call, context, opening)
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
  // Delete each page before the next one is read: memory holds one page at most.
  async function* deletedPages() {
    for await (const page of pages) {
      await deleteObjects(store, page.items, removal, context)
      yield presentPage(page, (stored) => presentObject(store, stored, context))
    }
  }
  try {
    // Refuses a form that no list has before the first object is deleted. kube-apiserver answers the same 406 afterwards.
    const text = await boundedText(await listPieces({ request, kind, metadata, output, pages: deletedPages() }))
    if (text === undefined)
      return await respond(200, success({ group: kind.group, kind: kind.plural }), output, warnings)
    return { status: 200, headers: { 'content-type': output.mediaType }, warnings, body: text }
  } catch (error) {
    // A changed credential is the reason to tell: it also stops the deletion.
    await ensureCredentialHolds(check)
    throw error instanceof OutOfTime ? unfinishedError(dryRun, names.length, error) : error
  } finally {
    context.note('count', names.length)
    // Objects are deleted in parallel: the record names them in the order of the list.
    context.note('names', names.sort(byBytes))
  }
}

export const deleteHandler: Handler<StoredCall> = { verb: 'delete', handle }

export const deleteCollectionHandler: Handler<StoredCall> = { verb: 'deletecollection', handle: handleCollection }
