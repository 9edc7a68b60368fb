/** POST of a kind that answers a create and stores nothing. Model: TokenRequest and TokenReview. */
import { type Decoded, decodeObject } from '../../meta/decoding/decode.ts'
import { NO_FLOATS } from '../../meta/encoding/floats.ts'
import { rfc3339 } from '../../meta/encoding/time.ts'
import { invalidObject } from '../../meta/errors/status.ts'
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { validateSchema } from '../../meta/schema/validate.ts'
import type { KubeObject } from '../../meta/types.ts'
import { type DecodedRequest, decodeRequest, judgeFields } from '../decoding.ts'
import { set, type VirtualExchange, type VirtualPipeline } from '../exchange.ts'
import { writer } from '../managers.ts'
import { decodeProtobuf, isProtobuf } from '../negotiation/protobuf.ts'
import { respondObject } from '../respond.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'
import { sized, withOptions } from '../writestages.ts'
import { placed } from './addressed.ts'

async function decode(exchange: VirtualExchange): Promise<DecodedRequest> {
  const { kind, request } = exchange
  if (!kind.protobuf || !isProtobuf(request.headers)) return decodeRequest(exchange, kind, { isCompiled: true })
  const value = decodeProtobuf(request.body, kind.protobuf)
  const decoded = decodeObject(value, kind, { isCompiled: true })
  judgeFields(exchange, kind, value, { duplicates: [], strict: [], guarded: [] }, decoded)
  return { ...decoded, floats: NO_FLOATS }
}

/** What the client may say of the answer's metadata, and of a subresource whose it is; the rest is the server's. */
function identified({ subresource }: VirtualExchange['kind'], { object }: Decoded, now: Date): KubeObject {
  const { name, generateName, namespace, uid, labels, annotations } = object.metadata
  const { spec } = object
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      ...(name && { name }),
      ...(generateName && { generateName }),
      ...(namespace && { namespace }),
      ...(subresource !== undefined && uid && { uid }),
      creationTimestamp: rfc3339(now),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    ...(spec && { spec }),
  }
}

/** 201 with the kind's answer. Throws what decoding and the kind throw. */
export async function createVirtual(exchange: VirtualExchange): Promise<void> {
  const { kind, request, context, warnings } = exchange
  const decoded = await decode(exchange)
  const object = placed(kind, identified(kind, decoded, context.now), request.namespace)
  const errors = validateSchema(object, kind.schema, '', undefined, decoded.floats)
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
  const managed = updateManagers({ ...writer(exchange, kind, ''), live: undefined, updated: object })
  const answer = await exchange.create(managed)
  exchange.response = await respondObject(request, kind, answer, set(exchange.output, 'output'), 201, warnings)
}

export const virtualPipeline: VirtualPipeline = {
  verb: 'create',
  stages: [refuseImpersonation, checkNames, acceptable, sized, withOptions('CreateOptions'), createVirtual],
}
