/** Request bodies: size, media type, text to value, value to object. Bodies are looked at only after authorization. */
import { decodeBody, type MediaType } from '../meta/codecs.ts'
import {
  type DecodableKind,
  type Decoded,
  type DecodeOptions,
  decodeObject,
  fieldFindings,
  strictDecodingError,
} from '../meta/decode.ts'
import { requestEntityTooLarge, type StatusError, unsupportedMediaType } from '../meta/errors.ts'
import type { Floats } from '../meta/floats.ts'
import type { JsonValue } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
import type { Exchange } from './exchange.ts'
import { set } from './exchange.ts'
import { mediaTypeOf } from './mediatype.ts'
import { bodyTypes, type PatchType, patchTypes } from './mediatypes.ts'

/** kube-apiserver's limit for bodies, in bytes. */
export const maxBodyBytes = 3 * 1024 * 1024

/** Throws 413. */
export function checkSize(body: Uint8Array): void {
  if (body.byteLength > maxBodyBytes) throw requestEntityTooLarge(`limit is ${maxBodyBytes}`)
}

/** A body without a type is JSON. Throws 415. */
export function bodyType(headers: Readonly<Record<string, string>>): MediaType {
  const { 'content-type': header = '' } = headers
  const type = mediaTypeOf(header)
  const found = header === '' ? 'json' : type && Object.hasOwn(bodyTypes, type) ? bodyTypes[type] : undefined
  if (!found) throw unsupported(Object.keys(bodyTypes), type, 'application/yaml')
  return found
}

/** 415. What curl sends of `-d` without a type is told what to send instead: it also joins the lines of a file. */
function unsupported(accepted: readonly string[], type: string | undefined, better: string): StatusError {
  if (type !== 'application/x-www-form-urlencoded') return unsupportedMediaType(accepted)
  const advice = `a form cannot be read: with curl, send a file with --data-binary @FILE -H 'Content-Type: ${better}'`
  return unsupportedMediaType(accepted, advice)
}

/** The exact type, parameters aside. Throws 415 in the words that make kubectl name the types to use. */
export function patchType(headers: Readonly<Record<string, string>>): PatchType {
  const type = headers['content-type']?.split(';', 1)[0]
  const found = patchTypes.find((one) => one === type)
  if (!found) throw unsupported(patchTypes, type, 'application/apply-patch+yaml')
  return found
}

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
