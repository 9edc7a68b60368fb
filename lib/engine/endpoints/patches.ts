/** Reads patches from request bodies, and applies JSON patches and merge patches. */
import { strictApplyError } from '../meta/decoding/codecs.ts'
import { decodePatched } from '../meta/decoding/decode.ts'
import type { Floats } from '../meta/encoding/floats.ts'
import { decodeMergePatch, mergePatch } from '../meta/patch/mergepatch.ts'
import type { JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { Write } from './call.ts'
import { type DecodedRequest, isGuarded, judgeFields } from './decoderequest.ts'

/** A parsed JSON patch or merge patch. */
interface ParsedPatch {
  apply(live: JsonObject): { value: JsonValue; floats: Floats }
  /** Duplicate and unknown fields of the patch. */
  findings: readonly string[]
  /** The findings that would be fields of the object. */
  duplicates: readonly string[]
}

/** Parses the body of a patch. Looks for duplicate and unknown fields only if `checked`. */
export type PatchParser = (body: Uint8Array, checked: boolean) => ParsedPatch | Promise<ParsedPatch>

const parseJsonPatch: PatchParser = async (body, checked) => {
  // Most patches are of another type, which should not wait for its library at a cold start.
  const { applyJsonPatch, decodeJsonPatch } = await import('../meta/patch/jsonpatch.ts')
  const { operations, duplicates, unknown } = decodeJsonPatch(body, checked)
  return { apply: (live) => applyJsonPatch(live, operations), findings: [...duplicates, ...unknown], duplicates }
}

const parseMergePatch: PatchParser = (body, checked) => {
  const { patch, duplicates, floats } = decodeMergePatch(body, checked)
  const merge = (live: JsonObject) => (Array.isArray(patch) ? patch : mergePatch(live, patch))
  // Merged fields keep their paths, so every finding is about a field of the object.
  return { apply: (live) => ({ value: merge(live), floats }), findings: duplicates, duplicates }
}

/** The parsers of the patches that every kind accepts, besides an apply. */
export const patchParsers = {
  'application/json-patch+json': parseJsonPatch,
  'application/merge-patch+json': parseMergePatch,
} as const

/** Returns the patched object. It is decoded like a body, but its mistakes are 422. `clean` changes it before. */
export async function applyPatch(
  write: Write,
  parse: PatchParser,
  live: KubeObject,
  clean: (value: JsonValue) => JsonValue = (value) => value,
): Promise<DecodedRequest> {
  const { request, options, kind } = write
  const { apply, findings, duplicates } = await parse(request.body, options.fieldValidation !== 'Ignore')
  const { value: patched, floats } = apply(live)
  const value = clean(patched)
  const decoded = decodePatched(value, kind)
  judgeFields(write, value, { duplicates: findings, strict: findings, guarded: duplicates }, decoded, 'patch')
  return { ...decoded, floats }
}

/** Refuses or warns about duplicate keys of the configuration of an apply, as fieldValidation asks. */
export function judgeDuplicates(write: Write, duplicates: readonly string[]): void {
  const { fieldValidation } = write.options
  const isStrict = fieldValidation === 'Strict' || isGuarded(write)
  if (isStrict && duplicates.length > 0) throw strictApplyError(duplicates)
  if (fieldValidation !== 'Ignore') for (const duplicate of duplicates) write.context.warn(duplicate)
}
