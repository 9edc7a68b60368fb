/** Decodes the object in a request body and applies fieldValidation: unknown and duplicate fields are refused or warned about. */
import { decodeBody, type MediaType } from '../meta/decoding/codecs.ts'
import {
  checkApiVersion,
  type DecodableKind,
  type DecodedObject,
  fieldFindings,
  strictDecodingError,
} from '../meta/decoding/decode.ts'
import type { Floats } from '../meta/encoding/floats.ts'
import type { JsonValue } from '../meta/types.ts'
import type { Write } from './call.ts'

/** The findings of the parser, one finished text each. */
type ParserFindings = Readonly<{
  /** For Warnings. */
  duplicates: readonly string[]
  /** For the error of fieldValidation=Strict. */
  strict: readonly string[]
  /** For the error of a guarded write. */
  guarded: readonly string[]
}>

/**
 * Returns a function that reports whether an unknown field could be meant for spec: below it, or beside it through a typo or
 * wrong indentation. In a body that selects objects, every field could be.
 */
const isMeantForSpec =
  ({ kind }: Write) =>
  (path: string): boolean =>
    kind.selectsObjects === true || !/^(metadata|status)\b/.test(path)

/**
 * Reports whether a typo must be refused: the body selects objects, or it grants access and the client did not choose a
 * fieldValidation.
 */
export const isGuarded = ({ request, options, kind }: Write): boolean =>
  kind.selectsObjects === true ||
  (kind.grantsAccess === true && request.subresource !== 'status' && options.fieldValidation === '')

/** Warns about unknown and duplicate fields, or throws 400 for them (422 for a patch), as fieldValidation asks. */
export function judgeFields(
  write: Write,
  value: JsonValue,
  { duplicates, strict, guarded }: ParserFindings,
  decoded: DecodedObject,
  source: 'body' | 'patch' = 'body',
): void {
  const mode = write.options.fieldValidation
  const unknown = mode === 'Ignore' ? [] : fieldFindings([], decoded.unknown)
  const refused = isGuarded(write)
    ? [...guarded, ...fieldFindings([], decoded.unknown.filter(isMeantForSpec(write)))]
    : mode === 'Strict'
      ? [...strict, ...unknown]
      : []
  if (refused.length > 0) throw strictDecodingError(value, write.kind, refused, source, decoded.object)
  const repeated = mode === 'Ignore' ? [] : duplicates
  for (const finding of [...repeated, ...unknown, ...decoded.warnings]) write.context.warn(finding)
}

/** A decoded object, and the numbers that its body writes as floating point. */
export interface DecodedRequest extends DecodedObject {
  floats: Floats
}

/**
 * Decodes the object in the body of a POST or PUT with `decode` and judges its fields. Throws 400 and 422. An unknown field is
 * reported before another apiVersion, as in kube-apiserver.
 */
export async function decodeRequest(
  write: Write,
  type: MediaType,
  decode: (value: JsonValue, kind: DecodableKind) => DecodedObject,
): Promise<DecodedRequest> {
  const { kind } = write
  const { value, floats, ...found } = await decodeBody(write.request.body, type, kind)
  const decoded = decode(value, kind)
  judgeFields(write, value, { ...found, guarded: found.strict }, decoded)
  checkApiVersion(decoded.object, kind)
  return { ...decoded, floats }
}
