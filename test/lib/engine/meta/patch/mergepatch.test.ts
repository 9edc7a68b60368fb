import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import { decodeMergePatch, mergePatch } from '../../../../../lib/engine/meta/patch/mergepatch.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import vectors from '../vectors/mergepatch.json' with { type: 'json' }
import cases from './vectors/mergepatch.cases.json' with { type: 'json' }

const message = (text: string): string => {
  try {
    decodeMergePatch(Buffer.from(text))
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message
    throw error
  }
  throw new Error('was not refused')
}

describe('mergePatch', () => {
  const appendix: [JsonObject, JsonObject, JsonObject][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  it.each(appendix)('follows RFC 7386 appendix A: %j with %j', (object, patch, result) =>
    expect(mergePatch(object, patch)).toEqual(result),
  )

  /** RFC 7386 leaves lists unchanged; kube-apiserver's library removes nulls from objects in them. */
  const differences = ['{"a":[{"b":null}]}']
  it.each(
    (vectors as { doc: JsonObject; patch: JsonObject; result: JsonObject }[]).filter(
      ({ patch }) => !differences.includes(JSON.stringify(patch)),
    ),
  )('returns the same as kube-apiserver: $doc with $patch', ({ doc, patch, result }) =>
    expect(mergePatch(doc, patch)).toEqual(result),
  )

  it('accepts names of prototype members, and never creates __proto__', () => {
    expect(mergePatch({}, { constructor: { name: 'x' }, toString: { a: null } })).toEqual({
      constructor: { name: 'x' },
      toString: {},
    })
    const smuggled: JsonObject = Object.fromEntries([['__proto__', { polluted: 1 }]])
    expect(mergePatch({ a: 1 }, smuggled)).toEqual({ a: 1 })
    expect(mergePatch({ a: 1 }, smuggled)).not.toHaveProperty('polluted')
  })

  it('omits nulls of new values, also in lists', () => {
    const list = [{ a: null, b: [{ c: null }], d: { e: null } }, null]
    expect(mergePatch({}, { list })).toEqual({ list: [{ b: [{}], d: {} }, null] })
    expect(mergePatch({ list: [1] }, { list })).toEqual({ list: [{ b: [{}], d: {} }, null] })
    expect(mergePatch({ list: {} }, { list })).toEqual({ list })
  })

  const object = fc
    .dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }))
    .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)

  it('changes neither object nor patch, and is idempotent; an empty patch changes nothing', () => {
    fc.assert(
      fc.property(object, object, (one, patch) => {
        const before = JSON.stringify([one, patch])
        const result = mergePatch(one, patch)
        // A list that replaces an object keeps nulls; one that replaces another value does not.
        if (!/\[.*null/.test(before)) expect(mergePatch(result, patch)).toEqual(result)
        expect(mergePatch(one, {})).toEqual(one)
        for (const value of Object.values(result)) if (Array.isArray(value)) value.push(1)
        expect(JSON.stringify([one, patch])).toBe(before)
      }),
    )
  })
})

describe('decodeMergePatch', () => {
  it('decodes objects and reports duplicate members', () =>
    expect(decodeMergePatch(Buffer.from('{"spec":{"ttl":1,"ttl":2e0}}'))).toEqual({
      patch: { spec: { ttl: 2 } },
      duplicates: ['duplicate field "spec.ttl"'],
      floats: new Map([['spec.ttl', '2e0']]),
    }))

  it.each(cases.refused as [string, string][])('throws 400 for %s', (text, expected) =>
    expect(message(text)).toBe(expected),
  )

  it.each(['5', '"x"', 'null', '{', '{} x'])('throws 400 for %s without field validation', (text) =>
    expect(() => decodeMergePatch(Buffer.from(text), false)).toThrow('Invalid JSON Patch'),
  )

  it('accepts a list without field validation, whose result is not an object', () =>
    expect(decodeMergePatch(Buffer.from('[5]'), false).patch).toEqual([5]))
})
