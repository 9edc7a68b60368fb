/** PATCH of a namespace, which returns it unchanged. Unlike stored kinds, namespaces take strategic merge patches: kubectl sends them. */
import { Namespace, namespaceObject } from '../../apis/core/v1/namespace.ts'
import type { Call, Write } from '../../endpoints/call.ts'
import { judgeFields } from '../../endpoints/decoderequest.ts'
import { patchTypes } from '../../endpoints/negotiation/bodies.ts'
import { applyPatch, judgeDuplicates, patchParsers } from '../../endpoints/patches.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { beginPatch } from '../../endpoints/requestchecks.ts'
import { decodeApply } from '../../meta/decoding/codecs.ts'
import { decodeApplied } from '../../meta/decoding/decode.ts'
import { mergePatch } from '../../meta/patch/mergepatch.ts'
import type { JsonValue, KubeObject } from '../../meta/types.ts'
import { isObject } from '../../meta/value/walk.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'
import { checkExists, checkMayCreate, respondUnchanged } from './respondunchanged.ts'

const STRATEGIC = 'application/strategic-merge-patch+json'

/** Removes the directives of a strategic merge patch, such as `$setElementOrder/finalizers`. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDirectives)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !name.startsWith('$'))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDirectives(member)]))
}

/** Returns the namespace that an apply asks for. */
async function applied(write: Write, live: KubeObject): Promise<KubeObject> {
  const { config, duplicates } = await decodeApply(write.request.body)
  judgeDuplicates(write, duplicates)
  const decoded = decodeApplied(config, Namespace)
  judgeFields(write, config, { duplicates: [], strict: [], guarded: [] }, decoded)
  return mergePatch(live, decoded.object) as KubeObject
}

/** Returns the namespace that another patch asks for. */
async function patched(
  write: Write,
  type: keyof typeof patchParsers | typeof STRATEGIC,
  live: KubeObject,
): Promise<KubeObject> {
  // A strategic merge patch of a namespace differs from a merge patch only in its directives.
  const { object } = await (type === STRATEGIC
    ? applyPatch(write, patchParsers['application/merge-patch+json'], live, withoutDirectives)
    : applyPatch(write, patchParsers[type], live))
  return object
}

async function answer(call: Call, server: Server): Promise<ApiResponse> {
  const { write, type, output } = beginPatch({ ...call, kind: Namespace }, [...patchTypes, STRATEGIC])
  const { name } = write.request
  await checkMayCreate(write, server)
  const isApply = type === 'application/apply-patch+yaml'
  checkExists(name, isApply)
  const live = namespaceObject(name, server.config.issuer)
  const sent = isApply ? await applied(write, live) : await patched(write, type, live)
  return respondUnchanged(write, sent, live, output)
}

export const patchHandler = (): Promise<LambdaHandler> => computedHandler('patch', answer)
