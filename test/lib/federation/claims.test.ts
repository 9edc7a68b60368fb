import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../lib/engine/meta/encoding/json.ts'
import type { JsonObject, JsonValue } from '../../../lib/engine/meta/types.ts'
import { type ClaimEntry, claimText, isLeftOut, isTrue, unmetEntry } from '../../../lib/federation/claims.ts'
import cases from './vectors/claims.cases.json' with { type: 'json' }

const holds = (entry: ClaimEntry, claims: JsonObject) => unmetEntry([entry], claims) === undefined
const claimsOf = (json: string) => parseJson(json).value as JsonObject

describe('unmetEntry', () => {
  const claims = claimsOf(`{
    "repository_id": "74", "ref": "refs/heads/main", "oidc.circleci.com/project-id": "p", "runner": 42, "verified": true,
    "large": 9007199254740993, "groups": ["dev", "ops", 7, false], "nothing": null, "nested": {"a": "b"}, "deep": [["dev"]],
    "fraction": 1.5, "empty": "", "huge": 123456789012345678901234567890, "accent": "e\\u0301"
  }`)

  test.each(cases.claims as [string, string][])('returns nothing when %s is %s', (claim, value) => {
    expect(unmetEntry([{ claim, values: ['other', value] }], claims)).toBeUndefined()
  })

  test.each(cases.unmet as [string, string][])('returns the entry when %s is not %s', (claim, value) => {
    const entry = { claim, values: [value] }
    expect(unmetEntry([entry], claims)).toBe(entry)
  })

  test('returns the first entry that does not hold', () => {
    const [first, second, third] = ['74', '75', '76'].map((value) => ({ claim: 'repository_id', values: [value] }))
    expect(unmetEntry([first, second, third] as ClaimEntry[], claims)).toBe(second)
  })

  test('compares patterns with strings only, also with those in lists', () => {
    expect(holds({ claim: 'ref', patterns: ['refs/tags/*', 'refs/heads/*'] }, claims)).toBe(true)
    expect(holds({ claim: 'groups', patterns: ['op*'] }, claims)).toBe(true)
    expect(holds({ claim: 'runner', patterns: ['4*'] }, claims)).toBe(false)
    expect(holds({ claim: 'verified', patterns: ['t*'] }, claims)).toBe(false)
  })

  test.each<ClaimEntry>([{ claim: 'ref' }, { claim: 'ref', values: [], patterns: [] }])(
    'returns an entry without choices',
    (entry) => expect(unmetEntry([entry], claims)).toBe(entry),
  )

  // threat: exchange-13
  test('compares every element of a list, however long it is', () => {
    const groups = Array.from({ length: 900 }, (_, i) => `g${i}`)
    for (const value of ['g0', 'g256', 'g257', 'g899']) {
      expect(holds({ claim: 'groups', values: [value] }, { groups })).toBe(true)
      expect(holds({ claim: 'groups', patterns: [`${value}*`] }, { groups })).toBe(true)
    }
    expect(holds({ claim: 'groups', values: ['g900'] }, { groups })).toBe(false)
  })

  const word = fc.constantFrom('a', 'b', 'ab', 'a/b', 'true', '1', '')
  const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
    word,
    fc.boolean(),
    fc.integer({ min: 0, max: 2 }),
    fc.constant(null),
    fc.constant(1.5),
  )
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constant({ a: 'a' }))
  const name = fc.constantFrom('x', 'y', 'z')
  const tokens = fc.dictionary(name, value, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>
  const entry: fc.Arbitrary<ClaimEntry> = fc.record({
    claim: name,
    values: fc.array(word, { maxLength: 3 }),
    patterns: fc.array(fc.constantFrom('a*', 'a/*', 'ab', 't*'), { maxLength: 2 }),
  })

  test('agrees with a naive evaluator', () => {
    const patterns: Record<string, RegExp> = {
      'a*': /^a[^/:@]*$/,
      'a/*': /^a\/[^/:@]*$/,
      ab: /^ab$/,
      't*': /^t[^/:@]*$/,
    }
    const naive = (entries: ClaimEntry[], claims: JsonObject) =>
      entries.every(({ claim, values = [], patterns: globs = [] }) =>
        Object.entries(claims)
          .filter(([name]) => name === claim)
          .flatMap(([, value]) => value)
          .filter((one) => one !== null && typeof one !== 'object' && one !== 1.5)
          .some(
            (one) =>
              values.includes(`${one}`) || (typeof one === 'string' && globs.some((glob) => patterns[glob]?.test(one))),
          ),
      )
    const property = fc.property(fc.array(entry, { maxLength: 3 }), tokens, (entries, claims) => {
      expect(unmetEntry(entries, claims) === undefined).toBe(naive(entries, claims))
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('lets in no more tokens when an entry is added or a choice is removed', () => {
    const property = fc.property(
      fc.array(entry, { minLength: 1, maxLength: 3 }),
      entry,
      tokens,
      fc.nat(),
      (entries, added, claims, index) => {
        const narrower = entries.map((one, i) =>
          i === index % entries.length ? { ...one, values: one.values?.slice(1) ?? [] } : one,
        )
        const accepted = unmetEntry(entries, claims) === undefined
        if (unmetEntry([...entries, added], claims) === undefined) expect(accepted).toBe(true)
        if (unmetEntry(narrower, claims) === undefined) expect(accepted).toBe(true)
      },
    )
    fc.assert(property, { numRuns: 2000 })
  })
})

describe('claimText', () => {
  test.each<[JsonValue | undefined, string | undefined]>([
    ['text', 'text'],
    [7, '7'],
    [9007199254740993n, '9007199254740993'],
    [false, 'false'],
    [1.5, undefined],
    [1e300, undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    [[], undefined],
  ])('returns the text of %s', (value, text) => expect(claimText(value)).toBe(text))
})

test.each<[JsonValue | undefined, boolean]>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
  ['True', false],
  [1, false],
  [[true], false],
  [undefined, false],
])('isTrue of %j is %s', (value, is) => expect(isTrue(value)).toBe(is))

test('isLeftOut holds for a claim that the token only names', () => {
  const names = {
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://graph.example.com' } },
  }
  expect(isLeftOut(names, 'groups')).toBe(true)
  expect(isLeftOut({ ...names, groups: ['a'] }, 'groups')).toBe(false)
  for (const claims of [{}, { _claim_names: 'groups' }, { _claim_names: ['groups'] }]) {
    expect(isLeftOut(claims, 'groups')).toBe(false)
  }
  expect(isLeftOut(names, 'constructor')).toBe(false)
})
