/** Decodes the object of a request, and refuses or warns of fields that it does not have, as fieldValidation asks. */
import { decodeBody } from '../meta/decoding/codecs.ts'
import {
  type DecodableKind,
  type Decoded,
  type DecodeOptions,
  decodeObject,
  fieldFindings,
  strictDecodingError,
} from '../meta/decoding/decode.ts'
import type { Floats } from '../meta/encoding/floats.ts'
import type { JsonValue } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
import { type Exchange, set } from './exchange.ts'
import { bodyType } from './negotiation/bodies.ts'

/** What a body says twice: for Warnings, for a strict error, and what of that is refused where nobody asks for anything. */
type Twice = Readonly<Record<'duplicates' | 'strict' | 'guarded', readonly string[]>>

/** What the fields of a body are judged by. */
type JudgedKind = DecodableKind & Pick<KindInfo, 'grantsAccess'>

/** Whether a field could be meant for spec: it is below it, or beside it, as a spec by another name or with another indentation. */
const isMeantForSpec = (path: string): boolean => !/^(metadata|status)\b/.test(path)

/** Whether nobody asks for anything, and the body says who gets which access: then a typo must not widen it. */
export const isGuarded = (
  { request, writeOptions }: Exchange,
  { grantsAccess }: Pick<KindInfo, 'grantsAccess'>,
): boolean =>
  grantsAccess === true && request.subresource !== 'status' && set(writeOptions, 'writeOptions').fieldValidation === ''

/** Refuses or warns of what a body says twice or the kind does not have, as fieldValidation asks. */
export function judgeFields(
  exchange: Exchange,
  kind: JudgedKind,
  value: JsonValue,
  { duplicates, strict, guarded }: Twice,
  decoded: Decoded,
  source: 'body' | 'patch' = 'body',
): void {
  const mode = set(exchange.writeOptions, 'writeOptions').fieldValidation
  const unknown = mode === 'Ignore' ? [] : fieldFindings([], decoded.unknown)
  const refused = isGuarded(exchange, kind)
    ? [...guarded, ...fieldFindings([], decoded.unknown.filter(isMeantForSpec))]
    : mode === 'Strict'
      ? [...strict, ...unknown]
      : []
  if (refused.length > 0) throw strictDecodingError(value, kind, refused, source, decoded.object)
  const twice = mode === 'Ignore' ? [] : duplicates
  for (const finding of [...twice, ...unknown, ...decoded.warnings]) exchange.context.warn(finding)
}

/** An object, and the numbers that its body writes as floating point. */
export interface DecodedRequest extends Decoded {
  floats: Floats
}

/** The object that the body of a POST or PUT stands for. Throws 400, 415, 422. */
export async function decodeRequest(
  exchange: Exchange,
  kind: JudgedKind,
  options: Pick<DecodeOptions, 'isCompiled' | 'typeLater'>,
): Promise<DecodedRequest> {
  const { body, headers } = exchange.request
  const { value, floats, ...found } = await decodeBody(body, bodyType(headers), kind)
  const twice = { ...found, guarded: found.strict }
  const decoded = decodeObject(value, kind, options, (decoded) => judgeFields(exchange, kind, value, twice, decoded))
  return { ...decoded, floats }
}
