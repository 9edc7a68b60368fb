/** POST of a virtual kind, which answers a create and stores nothing. Model: TokenRequest and TokenReview. */

import { checkApiVersion, decodeBuiltIn } from '../../meta/decoding/decode.ts'
import { NO_FLOATS } from '../../meta/encoding/floats.ts'
import { rfc3339 } from '../../meta/encoding/time.ts'
import { invalidObject } from '../../meta/errors/status.ts'
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { validateSchema } from '../../meta/schema/validate.ts'
import type { KubeObject } from '../../meta/types.ts'
import { defined, filled } from '../../meta/value/defined.ts'
import type { VirtualKind } from '../../registry/kind.ts'
import type { Handler, VirtualCall, Write } from '../call.ts'
import { type DecodedRequest, decodeRequest, judgeFields } from '../decoderequest.ts'
import { credentialOf } from '../execcredential.ts'
import { negotiate } from '../negotiation/accept.ts'
import { bodyType, checkBodySize } from '../negotiation/bodies.ts'
import { decodeProtobuf, isProtobuf } from '../negotiation/protobuf.ts'
import { createOptions, refuseDryRunLookalikes, withDryRun } from '../options.ts'
import type { ApiResponse } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'
import { respond, respondObject, uncached } from '../respond.ts'
import { ensureNamespace, ownershipOf } from './writesteps.ts'

async function decode(write: Write & { kind: VirtualKind }): Promise<DecodedRequest> {
  const { kind, request } = write
  if (!kind.protobuf || !isProtobuf(request.headers)) {
    return decodeRequest(write, bodyType(request.headers), decodeBuiltIn)
  }
  const value = decodeProtobuf(request.body, kind.protobuf)
  const decoded = decodeBuiltIn(value, kind)
  checkApiVersion(decoded.object, kind)
  judgeFields(write, value, { duplicates: [], strict: [], guarded: [] }, decoded)
  return { ...decoded, floats: NO_FLOATS }
}

/** Keeps the metadata that clients may set, which includes the parent's uid on a subresource, and sets the rest. */
function clientFields({ subresource, hasPreconditions }: VirtualKind, object: KubeObject, now: Date): KubeObject {
  const { name, generateName, namespace, uid, resourceVersion, labels, annotations } = object.metadata
  const { spec } = object
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      ...filled({ name, generateName, namespace }),
      ...(subresource !== undefined && filled({ uid })),
      ...(hasPreconditions && filled({ resourceVersion })),
      creationTimestamp: rfc3339(now),
      ...defined({ labels, annotations }),
    },
    ...(spec && { spec }),
  }
}

/** Answers 201 with the kind's answer: a credential, or what somebody may do. Nothing on its way may store it. */
async function handle(call: VirtualCall): Promise<ApiResponse> {
  const { request, kind, warnings } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request, { hasCredential: kind.credential !== undefined })
  checkBodySize(request.body)
  refuseDryRunLookalikes(request.query, kind)
  const options = createOptions(request.query)
  const context = withDryRun(call.context, options.dryRun)
  const write = { ...call, context, options }

  const { object: decoded, floats } = await decode(write)
  const object = ensureNamespace(kind, clientFields(kind, decoded, context.now), request.namespace)
  const errors = validateSchema(object, kind.schema, '', undefined, floats)
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
  const managed = updateManagers({ ...ownershipOf(write, ''), live: undefined, updated: object })
  const answer = await call.create(managed, context)
  const response = output.execCredential
    ? await respond(201, await credentialOf(kind, answer, output.execCredential), output, warnings)
    : await respondObject(request, kind, answer, output, 201, warnings)
  return uncached(response)
}

export const createVirtualHandler: Handler<VirtualCall> = { verb: 'create', handle }
