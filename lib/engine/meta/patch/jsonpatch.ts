/**
 * Decodes and applies JSON patches. This is the sole importer of fast-json-patch, which needs a guard: it walks prototypes,
 * quotes the whole document in its errors, has no limits and shares the patch's values with the document. This module
 * resolves every path over own members, with kube-apiserver's deviations from RFC 6902, and passes the library only three
 * canonical operations.
 * Source: RFC 6902, gopkg.in/evanphx/json-patch.v4, k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
 */
import jsonpatch from 'fast-json-patch'
import { decodeJson } from '../decoding/codecs.ts'
import type { Floats } from '../encoding/floats.ts'
import { escapeJson, goJsonType, quote } from '../encoding/gotext.ts'
import { literalsOf, parseLiterals, valuesOf } from '../encoding/jsonliterals.ts'
import { DecodeError, MAX_DEPTH } from '../encoding/jsonscanner.ts'
import { utf8 } from '../encoding/utf8.ts'
import { badRequest, requestEntityTooLarge, unprocessable } from '../errors/status.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { deepEqual } from '../value/equal.ts'
import { isObject, own } from '../value/walk.ts'

const MAX_OPERATIONS = 10_000

/** Limits the total size that `copy` adds, in characters of JSON. kube-apiserver's limit, equal to that of a body. */
const COPY_BUDGET = 3 * 2 ** 20

const MEMBERS: readonly string[] = ['op', 'path', 'from', 'value']

export interface PatchOperation {
  op?: string
  path?: string
  from?: string
  /** A value whose scalars are literals. */
  value?: JsonValue
}

interface JsonPatch {
  operations: PatchOperation[]
  /** Messages about duplicate members: `json patch duplicate field "[0].value.ttl"`. */
  duplicates: string[]
  /** Messages about unknown members of operations: `json patch unknown field "[0].foo"`. */
  unknown: string[]
}

/**
 * Decodes a JSON patch. Throws 400 if the body is not a list of operations, and 413 for more than 10,000. With `checked`
 * (field validation), throws 400 for members of a wrong type; otherwise their operation only fails to apply.
 */
export function decodeJsonPatch(body: Uint8Array, checked = true): JsonPatch {
  const into = checked ? 'handlers.jsonPatchOp' : 'jsonpatch.Operation'
  try {
    const { value, duplicates } = decodeJson(body)
    const list = value ?? []
    if (!Array.isArray(list)) throw mismatch(list, `Go value of type ${checked ? `[]${into}` : 'jsonpatch.Patch'}`)
    const literals = parseLiterals(utf8(body)) as JsonValue[] | null
    const operations = list.map((one, index) => operation(one, literals?.[index] ?? null, into, checked))
    if (operations.length > MAX_OPERATIONS) {
      throw requestEntityTooLarge(
        `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
      )
    }
    const unknown = list.flatMap((one, index) =>
      Object.keys(one ?? {})
        .filter((member) => !MEMBERS.includes(member))
        .map((member) => `unknown field ${quote(`[${index}].${member}`)}`),
    )
    const ofPatch = (finding: string) => `json patch ${finding}`
    return { operations, duplicates: duplicates.map(ofPatch), unknown: unknown.map(ofPatch) }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw badRequest(checked ? `error decoding patch: ${error.message}` : error.message)
  }
}

const mismatch = (value: JsonValue, target: string): DecodeError =>
  new DecodeError(`json: cannot unmarshal ${goJsonType(value)} into ${target}`)

function operation(value: JsonValue, literals: JsonValue, into: string, checked: boolean): PatchOperation {
  if (value === null) return {}
  if (!isObject(value)) throw mismatch(value, `Go value of type ${into}`)
  const text = (member: 'op' | 'path' | 'from'): PatchOperation => {
    const one = own(value, member) ?? null
    if (one === null) return {}
    if (typeof one !== 'string' && !checked) return {}
    if (typeof one !== 'string') throw mismatch(one, `Go struct field jsonPatchOp.${member} of type string`)
    return { [member]: one }
  }
  const given = isObject(literals) ? own(literals, 'value') : undefined
  return { ...text('op'), ...text('path'), ...text('from'), ...(given !== undefined && { value: given }) }
}

/**
 * Applies all operations and returns a new document, with the numbers that the patch writes as floating point. Throws 422
 * without a reason, as kube-apiserver does, if an operation does not apply, nests too deeply or copies too much. Scalars
 * are literals until the end, because `test` compares their text.
 */
export function applyJsonPatch(
  document: JsonValue,
  operations: readonly PatchOperation[],
): { value: JsonValue; floats: Floats } {
  const state: PatchState = { document: literalsOf(document), budget: COPY_BUDGET }
  for (const one of operations) {
    const apply = own(OPERATIONS, one.op ?? '')
    if (apply === undefined) throw unprocessable()
    apply(state, one)
  }
  checkDepth(state.document, 0)
  return valuesOf(state.document)
}

interface PatchState {
  document: JsonValue
  budget: number
}

const OPERATIONS: Readonly<Record<string, (state: PatchState, operation: PatchOperation) => void>> = {
  add: (state, { path, value = null }) => add(state, path, structuredClone(value)),
  remove: (state, { path }) => remove(state, path),
  replace(state, { path, value }) {
    if (value === undefined && path === '') throw unprocessable()
    replace(state, path, structuredClone(value ?? null))
  },
  test(state, { path, value = null }) {
    if (!deepEqual(read(state, path), value)) throw unprocessable()
  },
  // Resolve the target after removing the value, so that a value cannot be moved into itself.
  move: (state, { path, from }) => add(state, path, remove(state, from)),
  copy(state, { path, from }) {
    // kube-apiserver does not copy the root.
    if (from === '') throw unprocessable()
    add(state, path, charge(state, read(state, from), 0))
  },
}

/** Adds a value, but never a new root, like kube-apiserver. */
function add(state: PatchState, path: string | undefined, value: JsonValue): void {
  const { parent, pointer, key } = resolve(state, path)
  const end = Array.isArray(parent) ? parent.length : 0
  const index = Array.isArray(parent) && key !== '-' ? arrayIndex(key, end + 1) : end
  write(state, 'add', `${pointer}/${Array.isArray(parent) ? index : escaped(key)}`, value)
}

/** Replaces a value. Adds a missing member (an error in RFC 6902), but requires an element of a list to exist. */
function replace(state: PatchState, path: string | undefined, value: JsonValue): void {
  if (path === '') {
    // Ignore a new root that is neither an object nor a list.
    if (typeof value === 'object' && value !== null) state.document = value
    return
  }
  const { parent, pointer, key } = resolve(state, path)
  write(state, Array.isArray(parent) ? 'replace' : 'add', `${pointer}/${memberOf(parent, key)}`, value)
}

function remove(state: PatchState, path: string | undefined): JsonValue {
  const { parent, pointer, key } = resolve(state, path)
  if (!Array.isArray(parent) && !Object.hasOwn(parent, key)) throw unprocessable()
  return write(state, 'remove', `${pointer}/${memberOf(parent, key)}`)
}

/** Returns the last step of the path of a present element, or of a member. */
const memberOf = (parent: JsonObject | JsonValue[], key: string): number | string =>
  Array.isArray(parent) ? arrayIndex(key, parent.length) : escaped(key)

/** Returns the value at a path: null for a missing member, as `copy` and `test` require. Throws for a missing element. */
function read(state: PatchState, path: string | undefined): JsonValue {
  if (path === '') return state.document
  const { parent, key } = resolve(state, path)
  return (Array.isArray(parent) ? parent[arrayIndex(key, parent.length)] : own(parent, key)) ?? null
}

/** Resolves a path over own members only; `pointer` is the path of the parent, with normalized indexes. */
function resolve(
  state: PatchState,
  path: string | undefined,
): { parent: JsonObject | JsonValue[]; pointer: string; key: string } {
  const keys = parsePointer(path)
  const last = keys.pop()
  if (last === undefined) throw unprocessable()
  let parent = state.document
  let pointer = ''
  for (const key of keys) {
    if (typeof parent !== 'object' || parent === null) throw unprocessable()
    const member = memberOf(parent, key)
    pointer += `/${member}`
    parent = (Array.isArray(parent) ? parent[Number(member)] : own(parent, key)) ?? null
  }
  if (typeof parent !== 'object' || parent === null) throw unprocessable()
  return { parent, pointer, key: last }
}

/** Parses an RFC 6901 pointer and rejects `__proto__`. As in kube-apiserver, an invalid `~` escape is literal. */
function parsePointer(path: string | undefined): string[] {
  if (!path?.startsWith('/')) throw unprocessable()
  const keys = path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keys.includes('__proto__')) throw unprocessable()
  return keys
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Parses an index below `bound`. As in kube-apiserver, ignores leading zeros, and -1 is the last index. */
function arrayIndex(key: string, bound: number): number {
  if (!/^[-+]?\d{1,15}$/.test(key)) throw unprocessable()
  const index = Number(key) < 0 ? Number(key) + bound : Number(key)
  if (index < 0 || index >= bound) throw unprocessable()
  return index + 0 // of -0
}

/** Applies one canonical operation in place and returns the removed value. Hides the library's errors, which quote the document. */
function write(state: PatchState, op: 'add' | 'replace' | 'remove', path: string, value?: JsonValue): JsonValue {
  try {
    const done = jsonpatch.applyOperation(state.document, { op, path, value }, false, true, false)
    state.document = done.newDocument
    return done.removed ?? null
  } catch {
    throw unprocessable()
  }
}

/** Copies literals as Go does, with HTML characters escaped, and subtracts their size from the budget. */
function charge(state: PatchState, value: JsonValue, depth: number): JsonValue {
  state.budget -= typeof value === 'string' ? value.length : 2
  if (state.budget < 0 || depth > MAX_DEPTH) throw unprocessable()
  if (typeof value === 'string') return escapeJson(value)
  if (Array.isArray(value)) return value.map((one) => charge(state, one, depth + 1))
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const [member, one] of Object.entries(value)) {
    state.budget -= member.length
    copy[member] = charge(state, one, depth + 1)
  }
  return copy
}

function checkDepth(value: JsonValue, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth >= MAX_DEPTH) throw unprocessable()
  for (const one of Object.values(value)) checkDepth(one, depth + 1)
}
