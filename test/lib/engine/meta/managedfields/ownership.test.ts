/** Tests server-side apply and field ownership against recorded results of Kubernetes' implementation and general laws. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FieldPath } from '../../../../../lib/engine/meta/structuredmerge/element.ts'
import { compareObjects, toFieldSet } from '../../../../../lib/engine/meta/structuredmerge/fieldsof.ts'
import { parseFieldsV1 } from '../../../../../lib/engine/meta/structuredmerge/fieldsv1.ts'
import { type FieldSet, walkPaths } from '../../../../../lib/engine/meta/structuredmerge/set.ts'
import type { At } from '../../../../../lib/engine/meta/structuredmerge/typed.ts'
import { asObject } from '../../../../../lib/engine/meta/structuredmerge/typed.ts'
import type { JsonObject, JsonValue, KubeObject, ManagedFieldsEntry } from '../../../../../lib/engine/meta/types.ts'
import { deepEqual } from '../../../../../lib/engine/meta/value/equal.ts'
import { fieldsText, type Operation, play, playOne, type Step, thing } from '../thing.ts'

interface Answer {
  error?: string
  causes?: [string, string][]
  object?: KubeObject
  managers?: ManagedFieldsEntry[]
  fields?: string[]
}

/**
 * Random writes to a Thing, with the results of apimachinery v0.34.4 and structured-merge-diff v6.3.0. `managers` are the
 * managedFields without their FieldsV1; `fields` are the FieldsV1, byte for byte. Containers that upstream empties to null
 * are recorded as {} and []; empty members of metadata are omitted. Writes to the status do not cover metadata.
 */
const vectors = JSON.parse(readFileSync(new URL('../vectors/structuredmerge.json', import.meta.url), 'utf8')) as {
  operations: Operation[]
  steps: Answer[]
}[]

function answer(step: Step): Answer {
  if (step.object === undefined) return { ...step, ...(step.causes && { causes: step.causes.toSorted(byText) }) }
  const { managedFields = [], ...metadata } = step.object.metadata
  return {
    object: { ...step.object, metadata },
    managers: managedFields.map(({ fieldsV1: _, ...entry }) => entry),
    fields: fieldsText(step),
  }
}

const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1)

describe('recorded results', () => {
  it.each(vectors.map((vector, nth) => [nth, vector] as const))('match in sequence %i', (_, { operations, steps }) => {
    for (const step of steps) step.causes?.sort(byText)
    expect(play(operations).map(answer)).toEqual(steps)
  })
})

const word = fc.constantFrom('a', 'b', 'c', 'toString')
const words = fc.dictionary(word, word, { maxKeys: 3 })
const keyedItems = (names: string[], rest: Record<string, fc.Arbitrary<JsonValue>>) =>
  fc.uniqueArray(
    fc.record({ ...Object.fromEntries(names.map((name) => [name, word])), ...rest }, { requiredKeys: names }),
    { selector: (item) => names.map((name) => (item as JsonObject)[name]).join(), minLength: 1, maxLength: 4 },
  )
const set = fc.uniqueArray(word, { minLength: 1 })

// Sets and map lists have content here: nobody owns an applied empty one, so the laws do not apply to it.

const specs = fc.record(
  {
    text: word,
    number: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    atomicList: fc.array(word, { maxLength: 3 }),
    texts: set,
    map: words,
    mapOfMaps: fc.dictionary(word, words, { maxKeys: 2 }),
    mapOfSets: fc.dictionary(word, set, { maxKeys: 2 }),
    nested: fc.record({ a: word, deep: fc.record({ a: word, set: set }, { requiredKeys: [] }) }),
    byName: keyedItems(['name'], { value: word, tags: set }),
    wholeItems: keyedItems(['id'], { value: word }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>

const operations: fc.Arbitrary<Operation> = fc.record(
  {
    verb: fc.constantFrom('apply' as const, 'update' as const),
    manager: fc.constantFrom('m1', 'm2', 'm3'),
    force: fc.boolean(),
    object: specs.map((spec) => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'n' }, spec })),
  },
  { requiredKeys: ['verb', 'manager', 'object'] },
)

const scripts = fc.array(operations, { minLength: 1, maxLength: 5 })

const setOfEntry = ({ fieldsV1 }: ManagedFieldsEntry): FieldSet => parseFieldsV1(fieldsV1 ?? null)
const textOf = (path: FieldPath): string => path.map(({ id }) => id).join('/')
const texts = (set: FieldSet): string[] => Array.from(walkPaths(set), textOf)
function last(script: readonly Operation[]): KubeObject | undefined {
  return play(script).findLast(({ object }) => object)?.object
}

/** Freezes a value recursively, so that any change throws. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

describe('server-side apply', () => {
  it('changes nothing when the same configuration is applied again', () => {
    fc.assert(
      fc.property(scripts, operations, (script, operation) => {
        const live = last(script)
        const once = playOne({ ...operation, verb: 'apply', force: true }, live, 10).object
        expect(playOne({ ...operation, verb: 'apply' }, once, 11).object).toEqual(once)
      }),
    )
  })

  it('makes an applier own exactly the fields of its configuration', () => {
    fc.assert(
      fc.property(scripts, operations, (script, operation) => {
        const applied = playOne({ ...operation, verb: 'apply', force: true }, last(script), 10).object
        const entry = applied?.metadata.managedFields?.find(
          (one) => one.manager === operation.manager && one.operation === 'Apply',
        )
        const set = toFieldSet(operation.object, thing as At)
        const expected = texts(set).filter((text) => text.startsWith('f:spec'))
        expect(entry ? texts(setOfEntry(entry)) : []).toEqual(expected)
      }),
    )
  })

  it('drops or changes only fields that the manager applies or stops applying', () => {
    fc.assert(
      fc.property(scripts, operations, (script, operation) => {
        const live = last(script)
        if (live === undefined) return
        const before = toFieldSet(live, thing) as FieldSet
        const mine = live.metadata.managedFields?.find(
          (one) => one.manager === operation.manager && one.operation === 'Apply',
        )
        const applied = playOne({ ...operation, verb: 'apply', force: true }, live, 10).object
        const given = mine ? texts(setOfEntry(mine)) : []
        const now = new Set(texts(toFieldSet(operation.object, thing)))
        const after = texts(toFieldSet(applied as JsonObject, thing))
        const isPresent = (text: string) => after.some((one) => one === text || one.startsWith(`${text}/`))
        // A list item or map key that the manager stops applying is removed with all its content.
        const isGivenUp = (text: string) => given.some((one) => text === one || text.startsWith(`${one}/`))
        // The exception, as upstream: removing the last applied field also removes an empty struct beside it.
        const isEmptied = (path: FieldPath, text: string): boolean => {
          const parent = text.slice(0, text.lastIndexOf('/'))
          const value = at(live, path)
          return deepEqual(value, {}) && !isPresent(parent) && given.some((one) => one.startsWith(`${parent}/`))
        }
        const lost = [...walkPaths(before)].filter((path) => {
          const text = textOf(path)
          return !now.has(text) && !isPresent(text) && !isGivenUp(text) && !isEmptied(path, text)
        })
        expect(lost.map(textOf)).toEqual([])
      }),
    )
  })

  it('lets managers own only existing fields', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const live = last(script)
        const claimed = (live?.metadata.managedFields ?? []).flatMap((entry) => [...walkPaths(setOfEntry(entry))])
        expect(claimed.filter((path) => at(live, path) === undefined)).toEqual([])
      }),
    )
  })

  it('does not change its arguments', () => {
    fc.assert(
      fc.property(scripts, operations, (script, operation) => {
        const live = freeze(last(script))
        playOne(freeze(operation), live, 10)
      }),
    )
  })
})

/** Returns the value at a path. */
function at(value: JsonValue | undefined, path: FieldPath): JsonValue | undefined {
  const [step, ...rest] = path
  if (step === undefined || value === undefined) return value
  if (step.type === 'field') {
    const members = asObject(value) ?? {}
    return at(Object.hasOwn(members, step.name) ? members[step.name] : undefined, rest)
  }
  const items = Array.isArray(value) ? value : []
  if (step.type === 'value') return items.find((item) => item === step.value)
  if (step.type === 'index') return items[step.index]
  return at(
    items.find((item) => step.pairs.every(([name, one]) => asObject(item)?.[name] === one)),
    rest,
  )
}

/** Wraps an object so that every access is counted. */
function countReads<T extends object>(target: T, count: { reads: number }): T {
  const trap =
    (name: 'get' | 'has' | 'ownKeys' | 'getOwnPropertyDescriptor') =>
    (...rest: [T, ...unknown[]]): unknown => {
      count.reads++
      return (Reflect[name] as (...all: unknown[]) => unknown)(...rest)
    }
  return new Proxy(target, {
    get: trap('get'),
    has: trap('has'),
    ownKeys: trap('ownKeys'),
    getOwnPropertyDescriptor: trap('getOwnPropertyDescriptor'),
  } as ProxyHandler<T>)
}

describe('empty containers', () => {
  const text = (set: FieldSet): string => texts(set).join()

  it('are leaves, so that {}, [], null and absent values differ', () => {
    const { modified } = compareObjects({ spec: { map: {}, texts: [] } }, { spec: { map: null, texts: null } }, thing)
    expect(text(modified)).toBe('f:spec/f:map,f:spec/f:texts')
    const { added, removed } = compareObjects({ spec: { map: {} } }, { spec: { texts: [] } }, thing)
    expect([text(added), text(removed)]).toEqual(['f:spec/f:texts', 'f:spec/f:map'])
  })
})

describe('cost', () => {
  const head = { apiVersion: 'example.com/v1', kind: 'Thing' }

  function reads(size: number, make: (size: number, count: { reads: number }) => JsonObject): number {
    const count = { reads: 0 }
    const first = playOne({ verb: 'apply', manager: 'm1', object: make(size, count) }, undefined, 0).object
    const second = playOne({ verb: 'apply', manager: 'm1', object: make(size - 1, count) }, first, 1).object
    playOne({ verb: 'update', manager: 'm2', object: make(size, count) }, second, 2)
    return count.reads
  }

  it('grows linearly with the number of list items', () => {
    const list = (size: number, count: { reads: number }) => {
      const items = Array.from({ length: size }, (_, i) => countReads({ name: `n${i}`, value: 'v' }, count))
      return { ...head, metadata: { name: 'n' }, spec: { byName: items } }
    }
    expect(reads(1000, list)).toBeLessThan(2.2 * reads(500, list))
  })

  it('grows linearly with the number of labels', () => {
    const labels = (size: number, count: { reads: number }) => {
      const all = Object.fromEntries(Array.from({ length: size }, (_, i) => [`l${i}`, 'v']))
      return { ...head, metadata: { name: 'n', labels: countReads(all, count) } }
    }
    expect(reads(10_000, labels)).toBeLessThan(2.2 * reads(5_000, labels))
  })
})
