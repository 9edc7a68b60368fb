import fc from 'fast-check'
import specTests from 'json-patch-test-suite/spec_tests.json' with { type: 'json' }
import rfcTests from 'json-patch-test-suite/tests.json' with { type: 'json' }
import { describe, expect, it } from 'vitest'
import { parseJson, stringify } from '../../../../../lib/engine/meta/encoding/json.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import { applyJsonPatch, decodeJsonPatch, type PatchOperation } from '../../../../../lib/engine/meta/patch/jsonpatch.ts'
import type { JsonValue } from '../../../../../lib/engine/meta/types.ts'
import vectors from '../vectors/jsonpatch.json' with { type: 'json' }
import cases from './vectors/jsonpatch.cases.json' with { type: 'json' }

const bytes = (patch: unknown): Uint8Array => Buffer.from(typeof patch === 'string' ? patch : stringify(patch))

const applyPatch = (document: unknown, patch: unknown): JsonValue =>
  applyJsonPatch(document as JsonValue, decodeJsonPatch(bytes(patch)).operations).value

/** Returns the Status of an error. */
const refusal = (action: () => unknown): { code: number; message: string | undefined } => {
  try {
    action()
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, message: error.status.message }
    throw error
  }
  throw new Error('was not refused')
}

const unprocessable = { code: 422, message: 'the server rejected our request due to an error in our request' }

describe('applyJsonPatch in json-patch-tests', () => {
  /** The deviations of kube-apiserver from RFC 6902. */
  const differences = [
    'Out of bounds (lower)', // an index of -1 is the last one
    'replacing the root of the document is possible with add', // refused
    "missing 'value' parameter to add", // null
    "missing 'value' parameter to replace", // null
    "missing 'value' parameter to test", // null
  ]
  interface Case {
    comment: string
    doc: JsonValue
    patch: unknown
    expected?: JsonValue
    error?: string
  }
  const cases = [...rfcTests, ...specTests]
    .map((one) => ({
      disabled: false,
      ...one,
      comment: one.comment ?? ('error' in one ? one.error : JSON.stringify(one.patch)),
    }))
    .filter(({ disabled }) => !disabled) as Case[]

  const check = ({ doc, patch, expected, error }: Case) => {
    if (error !== undefined) expect(refusal(() => applyPatch(doc, patch)).code).toBe(422)
    else expect(applyPatch(doc, patch)).toEqual(expected ?? expect.anything())
  }

  it.for(cases.filter(({ comment }) => !differences.includes(comment)))('$comment', check)

  it.fails.for(cases.filter(({ comment }) => differences.includes(comment)))('differs: $comment', check)

  it('has every named difference', () =>
    expect(differences.filter((name) => !cases.some(({ comment }) => comment === name))).toEqual([]))

  it.each(differences)('has a test of the difference "%s"', (comment) =>
    expect(cases.map((one) => one.comment)).toContain(comment),
  )
})

describe('applyJsonPatch agrees with kube-apiserver', () => {
  /** Intended differences, with their reasons. */
  const differences: Record<string, string> = {
    '[{"op":"copy","from":"","path":"/n"}]': 'RFC 6902 lets the root be copied',
  }

  const cases = (vectors as { doc: JsonValue; patch: unknown; result?: JsonValue; error?: string }[])
    .map((vector) => ({ ...vector, text: JSON.stringify(vector.patch) }))
    .filter(({ text }) => !(text in differences))

  it.each(cases)('$text', ({ doc, patch, result, error }) => {
    if (error === undefined) expect(applyPatch(doc, patch)).toEqual(result)
    else expect(refusal(() => applyPatch(doc, patch))).toEqual(unprocessable)
  })

  it.each(Object.keys(differences))('has a vector for the difference %s', (text) =>
    expect(vectors.map(({ patch }) => JSON.stringify(patch))).toContain(text),
  )
})

describe('decodeJsonPatch', () => {
  it.each(cases.malformed as [string, string][])('throws 400 for %s', (text, message) =>
    expect(refusal(() => decodeJsonPatch(bytes(text)))).toEqual({ code: 400, message }),
  )

  it.each([
    ['[', 'unexpected end of JSON input'],
    ['{}', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['[5]', 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  ])('throws 400 for %s without field validation', (text, message) =>
    expect(refusal(() => decodeJsonPatch(bytes(text), false))).toEqual({ code: 400, message }),
  )

  it('accepts wrong types without field validation, so that the operation fails', () =>
    expect(decodeJsonPatch(bytes('[{"op":5,"path":"/a"}]'), false).operations).toEqual([{ path: '/a' }]))

  it('ignores a string as the new root', () => {
    const operations = [
      { op: 'replace', path: '', value: 'x' },
      { op: 'add', path: '/b', value: 2 },
    ]
    expect(applyPatch({ a: 1 }, operations)).toEqual({ a: 1, b: 2 })
  })

  it.each(cases.scalars as [string, string, boolean][])(
    'compares the text of scalars: at %j is %s: %s',
    (path, value, same) => {
      const document = { t: '<ü>\n', n: 1000, big: 9223372036854775807n, f: 1e21 }
      const patch = `[{"op":"test","path":"${path}","value":${value}}]`
      if (same) expect(applyPatch(document, patch)).toEqual(document)
      else expect(refusal(() => applyPatch(document, patch))).toEqual(unprocessable)
    },
  )

  it.each([
    ['"value":5.0}', '5.0', true],
    ['"value":5.0}', '5', false],
    ['"value":"<"}', '"<"', true],
    ['"value":"<"}', String.raw`"\u003c"`, false],
    ['"value":"<"},{"op":"move","from":"/a","path":"/b"},{"op":"move","from":"/b","path":"/a"}', '"<"', true],
    ['"value":"<"},{"op":"copy","from":"/a","path":"/a"}', '"<"', false],
    ['"value":"<"},{"op":"copy","from":"/a","path":"/a"}', String.raw`"\u003c"`, true],
  ])('compares with the text in the patch: %s is %s: %s', (added, value, same) => {
    const patch = `[{"op":"add","path":"/a",${added},{"op":"test","path":"/a","value":${value}}]`
    if (same) expect(applyPatch({}, patch)).toEqual({ a: JSON.parse(value) })
    else expect(refusal(() => applyPatch({}, patch))).toEqual(unprocessable)
  })

  it('reports the paths of whole numbers that the patch writes as floating point', () => {
    const text = '[{"op":"add","path":"/a","value":[{"x":5.0},1.5,7]},{"op":"add","path":"/a/0","value":1e3}]'
    const { value, floats } = applyJsonPatch({ n: 6 }, decodeJsonPatch(bytes(text)).operations)
    expect(value).toEqual({ n: 6, a: [1000, { x: 5 }, 1.5, 7] })
    expect([...floats]).toEqual([
      ['a[0]', '1e3'],
      ['a[1].x', '5.0'],
    ])
  })

  it('uses the last of duplicate members, and replaces lone surrogates', () =>
    expect(applyPatch({}, String.raw`[{"op":"add","path":"/a","value":{"x":"1","x":"\ud800","\udc00":1}}]`)).toEqual({
      a: { x: '\ufffd', '\ufffd': 1 },
    }))

  it('treats null as an empty list of operations', () =>
    expect(decodeJsonPatch(bytes('null'))).toEqual({ operations: [], duplicates: [], unknown: [] }))

  it('reports unknown and duplicate members', () => {
    const text = '[{"op":"add","path":"/a","value":{"b":1,"b":2},"foo":1},{"op":"add","op":"test","bar":{}}]'
    expect(decodeJsonPatch(bytes(text))).toMatchObject({
      duplicates: ['json patch duplicate field "[0].value.b"', 'json patch duplicate field "[1].op"'],
      unknown: ['json patch unknown field "[0].foo"', 'json patch unknown field "[1].bar"'],
    })
  })

  it('throws 413 for more than 10,000 operations', () => {
    const many = (count: number) => bytes(Array(count).fill({ op: 'test', path: '/a', value: 1 }))
    expect(decodeJsonPatch(many(10_000)).operations).toHaveLength(10_000)
    expect(refusal(() => decodeJsonPatch(many(10_001)))).toEqual({
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    })
  })
})

describe('applyJsonPatch with hostile patches', () => {
  const add = (path: string, value: JsonValue): PatchOperation => ({ op: 'add', path, value })

  it.each(cases.hostile as [string, PatchOperation][])('throws 422 for one that %s', (_, operation) => {
    const document = { list: [1], text: 'abc' }
    expect(refusal(() => applyJsonPatch(document, [operation]))).toEqual(unprocessable)
    expect({}).not.toHaveProperty('polluted')
  })

  it('accepts names of prototype members', () => {
    expect(applyPatch({ labels: {} }, [add('/labels/constructor', 'x')])).toEqual({ labels: { constructor: 'x' } })
    expect(applyPatch({ a: {} }, [{ op: 'copy', from: '/a/constructor', path: '/b' }])).toEqual({ a: {}, b: null })
    expect(applyPatch({ hasOwnProperty: 1 }, [{ op: 'test', path: '', value: { hasOwnProperty: 1 } }])).toEqual({
      hasOwnProperty: 1,
    })
  })

  it('limits copies that grow the document', () => {
    const double = Array(40).fill({ op: 'copy', from: '/a', path: '/a/-' })
    expect(refusal(() => applyJsonPatch({ a: ['x'.repeat(100)] }, double))).toEqual(unprocessable)
    const text = 'x'.repeat((3 * 2 ** 20) / 2 - 2)
    const copies = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` }))
    expect(Object.keys(applyJsonPatch({ a: text }, copies(2)).value as object)).toHaveLength(3)
    expect(refusal(() => applyJsonPatch({ a: text }, copies(3)))).toEqual(unprocessable)
  })

  it('limits nesting: by copies, by moves, by long paths, and in later comparisons', () => {
    const wrap = (i: number): PatchOperation[] =>
      [add('/w', []), { op: 'move', from: '/a', path: '/w/-' }, { op: 'move', from: '/w', path: '/a' }].map(
        (one) => ({ ...one, n: i }) as PatchOperation,
      )
    const wrapTimes = (count: number) => Array.from({ length: count }, (_, i) => wrap(i)).flat()
    expect(applyJsonPatch({ a: 1 }, wrapTimes(499)).value).toHaveProperty('a')
    expect(refusal(() => applyJsonPatch({ a: 1 }, wrapTimes(500)))).toEqual(unprocessable)
    expect(refusal(() => applyJsonPatch({ a: 1 }, wrapTimes(3300)))).toEqual(unprocessable)
    const copied = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/b' },
    ]
    expect(applyJsonPatch({ a: 1 }, [...wrapTimes(400), ...copied]).value).toEqual({})
    expect(refusal(() => applyJsonPatch({ a: 1 }, [...wrapTimes(600), ...copied]))).toEqual(unprocessable)
    const deep = [...wrapTimes(3000), { op: 'copy', from: '/a', path: '/b' }, { op: 'test', path: '/b', value: 1 }]
    expect(refusal(() => applyJsonPatch({ a: 1 }, deep))).toEqual(unprocessable)
    expect(refusal(() => applyJsonPatch({}, [add('/a'.repeat(100_000), 1)]))).toEqual(unprocessable)
  })

  it('does not quote the document in errors', () => {
    const error = (() => {
      try {
        applyJsonPatch({ key: 'mpk_secret' }, [{ op: 'test', path: '/key', value: 'mpk_guess' }])
      } catch (caught) {
        return caught as StatusError
      }
      throw new Error('was not refused')
    })()
    expect(error.status).toMatchObject({ code: 422, details: {} })
    expect(`${error.stack} ${JSON.stringify(error.cause ?? null)} ${JSON.stringify(error.status)}`).not.toMatch(/mpk_/)
  })

  it('decodes exact integers and compares their digits', () => {
    const document = parseJson('{"n":9007199254740993}').value
    expect(
      stringify(
        applyPatch(
          document,
          '[{"op":"test","path":"/n","value":9007199254740993},{"op":"copy","from":"/n","path":"/m"}]',
        ),
      ),
    ).toBe('{"n":9007199254740993,"m":9007199254740993}')
    const other = '[{"op":"test","path":"/n","value":9007199254740992}]'
    expect(refusal(() => applyPatch(document, other))).toEqual(unprocessable)
  })
})

describe('applyJsonPatch always', () => {
  const document = fc
    .jsonValue({ maxDepth: 3 })
    .map((one) => JSON.parse(JSON.stringify({ a: one, l: [one, 1], '': {} })) as JsonValue)
  const path = fc.constantFrom(
    '',
    '/',
    '/a',
    '/a/0',
    '/a/-',
    '/l',
    '/l/0',
    '/l/-',
    '/l/-1',
    '/l/1',
    '/l/0/a',
    '/n',
    '/n/x',
    '/toString',
    '/__proto__/x',
    '~',
    '/~1',
  )
  const operation: fc.Arbitrary<PatchOperation> = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'test', 'move', 'copy', 'merge'),
    path,
    from: path,
    value: fc
      .jsonValue({ maxDepth: 2 })
      .map((one) => JSON.parse(JSON.stringify(one)) as JsonValue)
      // Decoders reject such a member.
      .filter((one) => !JSON.stringify(one).includes('__proto__')),
  })

  it('changes neither document nor patch, shares nothing with them, and either applies or throws 422', () => {
    fc.assert(
      fc.property(document, fc.array(operation, { maxLength: 6 }), (doc, operations) => {
        const before = JSON.stringify([doc, operations])
        let result: JsonValue = null
        try {
          result = applyJsonPatch(doc, decodeJsonPatch(bytes(operations)).operations).value
        } catch (error) {
          expect((error as StatusError).status).toMatchObject({ code: 422, message: unprocessable.message })
        }
        overwriteContents(result)
        expect(JSON.stringify([doc, operations])).toBe(before)
      }),
      { numRuns: 500 },
    )
  })
})

/** Changes every list and object inside a value. */
function overwriteContents(value: JsonValue): void {
  if (typeof value !== 'object' || value === null) return
  for (const one of Object.values(value)) overwriteContents(one)
  if (Array.isArray(value)) value.push('scribble')
  else value.scribble = 1
}
