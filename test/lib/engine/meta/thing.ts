/** Defines a kind with every type of list and map, and runs scripts of writes to one of its objects. */
import { StatusError } from '../../../../lib/engine/meta/errors/status.ts'
import { serverSideApply, updateManagers } from '../../../../lib/engine/meta/managedfields/fieldmanager.ts'
import {
  boolean,
  int64,
  type ListSchema,
  list,
  map,
  memberSchema,
  object,
  string,
} from '../../../../lib/engine/meta/schema/schema.ts'
import { type At, asObject, wholeObject } from '../../../../lib/engine/meta/structuredmerge/typed.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../../../lib/engine/meta/types.ts'

const text = string('')
const pair = object('', { a: text, b: text })
const set = (items: ListSchema['items']) => list('', items, { listType: 'set' })
const keyedList = (keys: string[], items: ListSchema['items']) => list('', items, { listType: 'map', keys })

const spec = object('', {
  text,
  number: int64(''),
  flag: boolean(''),
  atomicList: list('', text),
  atomicMap: map('', text, { atomic: true }),
  atomicObject: object('', { a: text, b: list('', text) }, { atomic: true }),
  texts: set(text),
  numbers: set(int64('')),
  map: map('', text),
  mapOfMaps: map('', map('', text)),
  mapOfObjects: map('', object('', { a: text, more: map('', text), deep: pair })),
  mapOfSets: map('', set(text)),
  nested: object('', { a: text, deep: object('', { a: text, list: list('', text), set: set(text) }) }),
  byName: keyedList(['name'], object('', { name: text, value: text, flag: boolean(''), tags: set(text), pair })),
  byTwo: keyedList(
    ['port', 'protocol'],
    object('', { port: int64(''), protocol: text, note: text, inner: keyedList(['id'], pairWithId()) }),
  ),
  wholeItems: keyedList(['id'], object('', { id: text, value: text }, { atomic: true })),
})

function pairWithId() {
  return object('', { id: text, a: text, b: text })
}

const status = object('', {
  phase: text,
  seen: map('', text),
  conditions: keyedList(['type'], object('', { type: text, status: text, reason: text })),
})

export const thingKind = { group: 'example.com', version: 'v1', kind: 'Thing' }
export const thing = wholeObject({ spec, status })

/** One write. `object` is the applied configuration, or the whole new object of an update. */
export interface Operation {
  verb: 'apply' | 'update'
  manager: string
  force?: boolean
  subresource?: 'status'
  object: JsonObject
}

/** The result of a write: the stored object, or the message and causes of its error. */
export interface Step {
  error?: string
  causes?: [message: string, field: string][]
  object?: KubeObject
}

function computeWrite(operation: Operation, live: KubeObject | undefined, now: Date): KubeObject {
  const { verb, manager, force = false, subresource = '', object } = operation
  const write = { live, manager, subresource, now, gvk: thingKind, schema: thing } as const
  if (verb === 'apply') return serverSideApply({ ...write, config: object, force })
  return updateManagers({ ...write, updated: object as KubeObject })
}

/**
 * Replaces null containers, which an apply leaves when it removes their content, by empty ones: validation would reject
 * null, but scripts continue. Keeps null where the configuration itself contains it.
 */
function fillContainers(value: JsonValue | undefined, said: JsonValue | undefined, schema: At): JsonValue | undefined {
  if (value === null && said !== null && (schema?.type === 'object' || schema?.type === 'map')) return {}
  if (value === null && said !== null && schema?.type === 'list') return []
  if (Array.isArray(value) && schema?.type === 'list') {
    return value.map((item) => fillContainers(item, undefined, schema.items) ?? null)
  }
  const [members, sent] = [asObject(value), asObject(said) ?? {}]
  if (members === undefined) return value
  const entries = Object.entries(members).map(([name, one]) => [
    name,
    fillContainers(one, Object.hasOwn(sent, name) ? sent[name] : undefined, memberSchema(schema, name)),
  ])
  return Object.fromEntries(entries)
}

/** Returns the parts of a write that are stored, with the identity that the server sets. */
function storedParts(next: KubeObject, live: KubeObject | undefined, subresource: string): KubeObject {
  const { managedFields } = next.metadata
  const base = subresource && live ? live : next
  const { managedFields: _, ...metadata } = base.metadata
  const { status: __, ...rest } = base
  const kept = subresource && live ? next.status : live?.status
  return {
    ...rest,
    metadata: { ...metadata, uid: 'u', ...(managedFields && { managedFields }) },
    ...(kept !== undefined && { status: kept }),
  }
}

const EPOCH = Date.UTC(2000, 0, 1)

/** Runs one write, ten seconds after the previous one; `nth` starts at 0. */
export function playOne(operation: Operation, live: KubeObject | undefined, nth: number): Step {
  try {
    const next = computeWrite(operation, live, new Date(EPOCH + (nth + 1) * 10_000))
    const object = fillContainers(next, operation.object, thing) as KubeObject
    return { object: storedParts(object, live, operation.subresource ?? '') }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const causes = (error.status.details?.causes ?? []).map(({ message = '', field = '' }): [string, string] => [
      message,
      field,
    ])
    return { error: error.message, ...(causes.length > 0 && { causes }) }
  }
}

/** Runs a script of writes to one object, ten seconds apart, starting at 2000-01-01. */
export function play(operations: readonly Operation[]): Step[] {
  let live: KubeObject | undefined
  return operations.map((operation, nth) => {
    const step = playOne(operation, live, nth)
    live = step.object ?? live
    return step
  })
}

/** Returns the encoded FieldsV1 of the entries, in order. */
export const fieldsText = (step: Step): string[] =>
  (step.object?.metadata.managedFields ?? []).map(({ fieldsV1 }) => JSON.stringify(fieldsV1 as JsonValue))
