import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, stringify } from '../../../../../lib/engine/meta/encoding/json.ts'
import { DecodeError, MAX_DEPTH, MAX_VALUES } from '../../../../../lib/engine/meta/encoding/jsonscanner.ts'
import vectors from '../vectors/json.json' with { type: 'json' }

interface Vector {
  text: string
  json?: string
  error?: string
  strict?: string[]
}

/** Intended differences, with their reasons. */
const differences: Record<string, string> = {
  '-0.0': 'one zero is enough: Go keeps a negative zero of a float',
  '9223372036854775808': 'Go writes floats in the shortest form',
}

const outcome = (text: string): { value: unknown } | { error: string } => {
  try {
    return { value: parseJson(text).value }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { error: error.message }
  }
}

describe('parseJson agrees with sigs.k8s.io/json', () => {
  it.each((vectors as Vector[]).filter(({ text }) => !(text in differences)))(
    '$text',
    ({ text, json, error, strict }) => {
      if (error !== undefined)
        return expect(outcome(text)).toEqual({ error: error.replace(/number \S+ into/, 'number into') })
      const parsed = parseJson(text)
      expect(stringify(parsed.value)).toBe(stringify(parseJson(json ?? '').value))
      expect(parsed.duplicates.map((path) => `duplicate field "${path}"`)).toEqual(strict ?? [])
    },
  )

  it('decodes every int64 exactly, as bigint beyond 2^53, in any notation', () => {
    expect(
      parseJson('[9007199254740991, -9007199254740992, 9007199254740993, 1e17, -9223372036854775808]').value,
    ).toEqual([9007199254740991, -9007199254740992n, 9007199254740993n, 100000000000000000n, -9223372036854775808n])
    expect(parseJson('[9223372036854775808, 1e19, 123456789012345678901234567890]').value).toEqual([
      2 ** 63,
      1e19,
      1.2345678901234568e29,
    ])
    expect([Object.is(parseJson('-0').value, 0), Object.is(parseJson('-0.0').value, 0)]).toEqual([true, true])
  })

  it.each(['9007199254740993', '-9007199254740993', '9223372036854775807', '90071992547409930'])(
    'reads %s alone',
    (text) => expect(parseJson(text).value).toBe(BigInt(text)),
  )

  it('accepts the same texts as JSON.parse, with the same values', () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0123eE+-.truefalsn d8 \n'), maxLength: 24 }),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(',', '"', '\\', '}', ' ', '\u0000', 'x')).map(([json, at, one]) => {
        const cut = at % (json.length + 1)
        return json.slice(0, cut) + one + json.slice(cut + 1)
      }),
    )
    fc.assert(
      fc.property(text, (text) => {
        let expected: unknown
        try {
          expected = JSON.parse(text)
        } catch {
          expect(outcome(text)).toHaveProperty('error')
          return
        }
        // Beyond int64 and float64 the two differ intentionally; other tests cover this.
        fc.pre(!/\d{16}|\de[+-]?\d\d|__proto__|\\ud/i.test(text + JSON.stringify(expected)))
        expect(outcome(text)).toEqual({ value: JSON.parse(JSON.stringify(expected)) })
      }),
      { numRuns: 2000 },
    )
  })

  it('decodes the output of stringify', () => {
    const known = fc.jsonValue().filter((one) => !JSON.stringify(one).includes('__proto__'))
    const value = known.map((one) => JSON.parse(JSON.stringify(one)))
    fc.assert(
      fc.property(value, (one) => {
        expect(stringify(parseJson(stringify(one)).value)).toBe(stringify(one))
      }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (one) => {
        expect(stringify(parseJson(`{"n":${one}}`).value)).toBe(`{"n":${one}}`)
      }),
    )
  })
})

describe('parseJson records whole floating-point numbers', () => {
  it('by path', () => {
    const { value, floats } = parseJson('{"a":[5.0,5,{"b":1e3}],"c":-0.0,"d":1.5,"e":1e-3,"f":1E22}')
    expect(value).toEqual({ a: [5, 5, { b: 1000 }], c: 0, d: 1.5, e: 0.001, f: 1e22 })
    expect([...floats]).toEqual([
      ['a[0]', '5.0'],
      ['a[2].b', '1e3'],
      ['c', '-0.0'],
      ['f', '1E22'],
    ])
  })

  it('up to a thousand', () => expect(parseJson(`[${'5.0,'.repeat(2000)}0]`).floats.size).toBe(1000))
})

// threat: gateway-6
describe('parseJson with hostile input', () => {
  it('rejects members named __proto__, escaped or not, and accepts other names of prototype members', () => {
    expect(outcome('{"a":{"__proto__":{"x":1}}}')).toEqual({ error: 'json: a member must not be named __proto__' })
    expect(outcome('{"\\u005f_proto__":1}')).toEqual({ error: 'json: a member must not be named __proto__' })
    const value = parseJson('{"constructor":1,"toString":2,"hasOwnProperty":3}').value
    expect(Object.entries(value as object)).toEqual([
      ['constructor', 1],
      ['toString', 2],
      ['hasOwnProperty', 3],
    ])
    expect(parseJson('{"constructor":1}').duplicates).toEqual([])
  })

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('accepts nesting up to the limit: %s', (open, close) => {
    const parseNested = (depth: number) => outcome(`${open.repeat(depth)}1${close.repeat(depth)}`)
    expect(parseNested(MAX_DEPTH)).toHaveProperty('value')
    expect(parseNested(MAX_DEPTH + 1)).toEqual({ error: 'exceeded max depth' })
    expect(outcome(open.repeat(100_000))).toEqual({ error: 'exceeded max depth' })
  })

  it('never quotes more than one character', () => {
    const secret = 'mpk_abcdefghijklmnopqrstuvwxyz'
    for (const text of [secret, `{"key":"${secret}`, `{"key":"${secret}" ${secret}}`, `{"${secret}`, `{${secret}:1}`]) {
      const result = outcome(text)
      expect(result).toHaveProperty('error')
      expect(JSON.stringify(result)).not.toContain(secret.slice(0, 3))
    }
  })

  it('reports at most 100 duplicates and shortens long names in their paths', () => {
    const many = `{${Array.from({ length: 300 }, (_, i) => `"a${i}":1,"a${i}":2`).join()}}`
    expect(parseJson(many).duplicates).toHaveLength(100)
    const long = 'x'.repeat(5000)
    expect(parseJson(`{"${long}":{"a":1,"a":2}}`).duplicates).toEqual([`${'x'.repeat(256)}....a`])
    const deep = `{"${'x'.repeat(250)}":`.repeat(400)
    const [path = ''] = parseJson(`${deep}{"a":1,"a":2}${'}'.repeat(400)}`).duplicates
    expect([path.length, path.slice(-5)]).toEqual([4099, 'xx...'])
  })

  it.each([',0', ',{}', ',[]', ',""'])('rejects more values than the limit: %s', (one) => {
    const list = (values: number) => `[0${one.repeat(values - 2)}]`
    expect(outcome(list(MAX_VALUES))).toHaveProperty('value')
    expect(outcome(list(MAX_VALUES + 1))).toEqual({ error: 'exceeded max number of values' })
    expect(parseJson(list(MAX_VALUES + 1), Number.POSITIVE_INFINITY).value).toHaveLength(MAX_VALUES)
  })
})

describe('stringify', () => {
  it('encodes bigint as digits, and indents', () => {
    expect(stringify({ a: 9223372036854775807n, b: [1n], c: undefined })).toBe('{"a":9223372036854775807,"b":[1]}')
    expect([stringify({ a: 1n }, 2), stringify({ a: 1 }, 2)]).toEqual(['{\n  "a": 1\n}', '{\n  "a": 1\n}'])
  })
})
