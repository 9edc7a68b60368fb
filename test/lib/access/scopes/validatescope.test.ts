import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { containsChain, extendChain, validateChain, withScope } from '../../../../lib/access/scopes/chain.ts'
import { parseChain } from '../../../../lib/access/scopes/parsechain.ts'
import { isPattern, patternMatches, patternsOverlap } from '../../../../lib/access/scopes/rules.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { validateScope } from '../../../../lib/access/scopes/validatescope.ts'
import { runs } from '../../../support/effort.ts'
import { scope as anyScope } from '../arbitraries.ts'
import cases from './vectors/validatescope.cases.json' with { type: 'json' }

const RUNS = runs(1000)

describe('validateScope', () => {
  const rows: [string, Scope, string[]][] = [
    ...(cases.scopes as [string, Scope, string[]][]),
    [
      'the size of the text',
      { projects: [{ project: 'x'.repeat(5000) }] },
      ['spec.scope: Too long: may not be more than 4096 bytes'],
    ],
  ]
  test.each(rows)('checks %s', (_, scope, expected) => {
    const found = validateScope(scope).map(({ field, message }) => `${field}: ${message}`)
    expect(found).toHaveLength(expected.length)
    for (const [index, text] of expected.entries()) expect(found[index]).toContain(text)
  })
})

test('patternsOverlap reports whether any resource matches both patterns', () => {
  const word = fc.constantFrom('a', 'b', '*')
  const pattern = fc.oneof(
    word,
    fc.tuple(word, word).map((pair) => pair.join('/')),
  )
  const all = ['a', 'b', 'c'].flatMap((resource) =>
    ['', 'a', 'b', 'c'].map((subresource) => [resource, subresource] as const),
  )
  fc.assert(
    fc.property(pattern, pattern, (one, other) => {
      expect(isPattern(one)).toBe(true)
      const both = all.some(([r, s]) => patternMatches(one, r, s) && patternMatches(other, r, s))
      expect(patternsOverlap(one, other)).toBe(both)
    }),
    RUNS,
  )
})

describe('chains', () => {
  test('contain a scope once, regardless of the order of its members', () => {
    const scope: Scope = { projects: [{ project: 'a' }], clusters: [{ cluster: 'c' }] }
    const same: Scope = { clusters: [{ cluster: 'c' }], projects: [{ project: 'a' }] }
    expect(withScope([scope], same)).toEqual([scope])
    expect(withScope([scope], {})).toEqual([scope, {}])
    expect(withScope([scope], undefined)).toEqual([scope])
    expect(withScope([], null)).toEqual([])
  })

  test('keep every scope when extended', () => {
    fc.assert(
      fc.property(fc.array(anyScope, { maxLength: 3 }), fc.array(anyScope, { maxLength: 3 }), (chain, more) => {
        const all = extendChain(chain, more)
        expect(containsChain(all, chain) && containsChain(all, more)).toBe(true)
        expect(containsChain([...chain, ...more], all)).toBe(true)
      }),
      RUNS,
    )
  })

  test('distinguish different scopes', () => {
    expect(containsChain([{ projects: [] }], [{}])).toBe(false)
    expect(containsChain([{ projects: [{ project: 'a' }] }], [{ spaces: [{ project: 'a' }] }])).toBe(false)
  })

  test('have at most 8 scopes and 4096 bytes', () => {
    const scopes = (count: number) =>
      Array.from({ length: count }, (_, index): Scope => ({ clusters: [{ cluster: `${index}` }] }))
    expect(validateChain(scopes(8))).toEqual([])
    expect(validateChain(scopes(9))).toMatchObject([{ type: 'FieldValueTooMany', field: 'spec.scope' }])
    const chainOfBytes = (bytes: number): Scope[] => [
      { clusters: [{ cluster: 'é'.repeat((bytes - 31) / 2) + 'x'.repeat((bytes - 31) % 2) }] },
    ]
    expect(Buffer.byteLength(JSON.stringify(chainOfBytes(4096)))).toBe(4096)
    expect(validateChain(chainOfBytes(4096))).toEqual([])
    expect(validateChain(chainOfBytes(4098))).toMatchObject([{ type: 'FieldValueTooLong', field: 'spec.scope' }])
  })

  test('are parsed only if they fully match the schema', () => {
    fc.assert(
      fc.property(fc.array(anyScope, { maxLength: 3 }), (chain) => {
        expect(parseChain(JSON.parse(JSON.stringify(chain)))).toEqual(chain)
      }),
      RUNS,
    )
    const bad = [
      undefined,
      null,
      {},
      'x',
      [null],
      [[]],
      ['x'],
      [{ other: [] }],
      [{ rules: [{ until: 'x' }] }],
      [{ projects: {} }],
      [{ projects: [{ project: 1 }] }],
      [{ allowPlatformCli: 'yes' }],
      [{ constructor: [] }],
      [JSON.parse('{"__proto__": {}}')],
      [{ rules: [{ requestTargets: ['Elsewhere'] }] }],
      Array.from({ length: 9 }, () => ({})),
    ]
    for (const value of bad) expect(() => parseChain(value), JSON.stringify(value)).toThrow()
  })
})
