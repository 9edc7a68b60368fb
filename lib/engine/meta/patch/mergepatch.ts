/** Decodes and applies JSON merge patches. Source: RFC 7386, k8s.io/apiserver/pkg/endpoints/handlers/patch.go. */
import { decodeJson } from '../decoding/codecs.ts'
import type { Floats } from '../encoding/floats.ts'
import { GO_MAP, goJsonType } from '../encoding/gotext.ts'
import { DecodeError } from '../encoding/jsonscanner.ts'
import { badRequest } from '../errors/status.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { isObject, own } from '../value/walk.ts'

interface MergePatch {
  /** Can be a list only without field validation. */
  patch: JsonObject | JsonValue[]
  /** Messages about duplicate members: `duplicate field "spec.ttl"`. */
  duplicates: string[]
  floats: Floats
}

/** Decodes a merge patch. Throws 400 unless it is a JSON object. With `checked` (field validation), decodes twice for better errors. */
export function decodeMergePatch(body: Uint8Array, checked = true): MergePatch {
  try {
    const { value, duplicates, floats } = decodeJson(body)
    if (isObject(value) || (!checked && Array.isArray(value))) return { patch: value, duplicates, floats }
    if (value === null) throw badRequest(NO_PATCH)
    throw new DecodeError(`json: cannot unmarshal ${goJsonType(value)} into ${GO_MAP}`)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw badRequest(checked ? `error decoding patch: ${error.message}` : NO_PATCH)
  }
}

/** The message of the Go library that applies merge patches. */
const NO_PATCH = 'Invalid JSON Patch'

/** Returns a new object with the patch merged in: null removes a member, objects merge, all other values replace. */
export function mergePatch(object: JsonObject, patch: JsonObject): JsonObject {
  const result = structuredClone(object)
  merge(result, patch)
  return result
}

/** Removes null members from new values, also inside lists. Leaves a list that replaces an object unchanged. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

function merge(target: JsonObject, patch: JsonObject): void {
  for (const [member, value] of Object.entries(patch)) {
    if (member === '__proto__') continue // no decoder lets it in; assigning it would not make a member
    if (value === null) delete target[member]
    else if (isObject(value)) {
      const present = own(target, member)
      const inner = isObject(present) ? present : {}
      merge(inner, value)
      target[member] = inner
    } else target[member] = isObject(own(target, member)) ? structuredClone(value) : withoutNulls(value)
  }
}
