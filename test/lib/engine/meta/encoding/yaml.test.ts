import fc from 'fast-check'
import { load, YAML11_SCHEMA } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { parseJson, stringify } from '../../../../../lib/engine/meta/encoding/json.ts'
import { DecodeError, MAX_DEPTH } from '../../../../../lib/engine/meta/encoding/jsonscanner.ts'
import { dumpYaml, parseYaml, yamlWriter } from '../../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonValue } from '../../../../../lib/engine/meta/types.ts'
import { quotedByKubernetes, yamlStrings } from '../../../../support/yamlstrings.ts'
import vectors from '../vectors/yaml.json' with { type: 'json' }
import cases from './vectors/yaml.cases.json' with { type: 'json' }

interface Vector {
  yaml: string
  json?: string
  error?: string
  strict?: string
}

/** Intended differences, with their reasons. */
const differences: Record<string, string> = {
  'a: "\\/"': 'JSON text with this escape is YAML 1.2: taken',
  'a: "\\ud83d\\ude00"\n': 'surrogate pairs are JSON: taken',
  'a: "😀\\ud83d"\n': 'half a pair becomes U+FFFD, as in JSON',
  'a: \u0085b\n': 'a line break of YAML 1.1 only',
  'a: \u2028b\n': 'a line break of YAML 1.1 only',
  '- a\n-\tb\n': 'a tab after the dash: taken',
  'a: [\n\t1,\n\t2\n]\n': 'a tab as indentation below a block: refused',
  'a: {\n\tb: 1 }\n': 'a tab as indentation below a block: refused',
  'a: "\\\n"\n': 'an indentation that is too small: refused',
  '%YAML 1.2\n---\na: 1\n': 'YAML 1.2 is what most tools announce: taken',
  '%FOO bar\n---\na: 1\n': 'the specification says to ignore unknown directives',
  '%TAG ! tag:yaml.org,2002:\n---\na: !str 5\n': 'nobody needs tag handles: refused',
  '...\na: 1\n': 'an empty document before the first: skipped',
  'a: 1\n... x\n': 'the rest of the text must be YAML too: refused',
  '1: a\n"1": b\n': 'both are one member of the object: reported',
  'x: &a {k: 1, l: 2}\ny:\n  l: 3\n  <<: *a\n': 'reported with the line of the merge, not of the anchor',
  'x: &a {k: 1}\ny: &b {k: 2, m: 3}\nz:\n  <<: [*a, *b]\n': 'reported with the line of the merge, not of the anchor',
}

const sortMembers = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sortMembers(v)]),
  )
}

const problem = async (text: string): Promise<string> => {
  const outcome: unknown = await parseYaml(text).catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(DecodeError)
  return (outcome as DecodeError).message
}

describe('parseYaml agrees with sigs.k8s.io/yaml', () => {
  const cases = (vectors as Vector[]).filter(({ yaml }) => !(yaml in differences))

  it.each(cases.filter(({ json }) => json !== undefined))('accepts $yaml', async ({ yaml, json, strict }) => {
    const { value, duplicates } = await parseYaml(yaml)
    expect(stringify(sortMembers(value))).toBe(stringify(sortMembers(parseJson(json ?? '').value)))
    expect(duplicates.length > 0 ? `yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}` : undefined).toBe(strict)
  })

  it.each(cases.filter(({ error }) => error !== undefined))('rejects $yaml', async ({ yaml }) =>
    expect(await problem(yaml)).toMatch(/^(yaml: |json: |unsupported map key)/),
  )

  it.each(Object.keys(differences))('has a vector for the difference %j', (yaml) =>
    expect(vectors.map((vector) => vector.yaml)).toContain(yaml),
  )

  it('reports the recorded error and its line', async () => {
    expect(await problem('a: [')).toBe('yaml: line 1: did not find expected node content')
    expect(await problem('a: 1\nb:\n\tc: 2\n')).toBe('yaml: line 3: found character that cannot start any token')
  })

  it('counts lines with any line ending', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      expect((await parseYaml(['a: 1', '', 'b: 2', 'a: 3', ''].join(end))).duplicates).toEqual([
        'line 4: key "a" already set in map',
      ])
    }
  })

  it('prefers the first of several merged maps', async () => {
    const { value } = await parseYaml('a: &a {k: 1}\nb: &b {k: 2, m: 3}\nc: {<<: [*a, *b]}\n')
    expect(value).toMatchObject({ c: { k: 1, m: 3 } })
  })

  it('replaces a lone surrogate with U+FFFD', async () =>
    expect((await parseYaml('"\\ud83d": "\\ude00"')).value).toEqual({ '\ufffd': '\ufffd' }))

  it('reports the line where the later duplicate begins', async () => {
    const line = async (value: string) => (await parseYaml(`a: 1\nb: 2\na: ${value}\n`)).duplicates
    const third = ['line 3: key "a" already set in map']
    for (const value of ['|\n\n  x', '>-\n  x', '&x |\n  x', '!!str x', '[1,\n 2]', '{b: 1}', '', '"x"']) {
      expect(await line(value), value).toEqual(third)
    }
    expect(await line('\n  - 1')).toEqual(['line 4: key "a" already set in map'])
    expect(await line('\n\n  b: 1')).toEqual(['line 5: key "a" already set in map'])
  })

  it('reports duplicate keys: strings in quotes, other keys without', async () =>
    expect((await parseYaml('5: a\n5: b\nyes: a\non: b\n')).duplicates).toEqual([
      'line 2: key 5 already set in map',
      'line 4: key true already set in map',
    ]))

  // A group of base64 has two characters of data at least.
  it('rejects base64 with more padding than it needs', async () =>
    expect(await problem('!!binary a===')).toBe('yaml: !!binary value contains invalid base64 data'))

  it('decodes integers beyond 2^53 as bigint', async () => {
    const { value } = await parseYaml('[9007199254740993, 0x7fffffffffffffff, 1e17, 9223372036854775808]')
    expect(value).toEqual([9007199254740993n, 9223372036854775807n, 100000000000000000n, 2 ** 63])
  })
})

// threat: gateway-6
describe('parseYaml with hostile input', () => {
  it('limits the expansion of aliases', async () => {
    const level = (i: number) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`
    const laughs = ['a0: &a0 [lol]', ...Array.from({ length: 20 }, (_, i) => level(i))].join('\n')
    expect(await problem(laughs)).toBe('yaml: document contains excessive aliasing')
    const long = `a: &a ${'x'.repeat(100_000)}\nb: [${Array(40).fill('*a').join()}]`
    expect(await problem(long)).toBe('yaml: document contains excessive aliasing')
    const merges = `a: &a {${Array.from({ length: 1000 }, (_, i) => `k${i}: 1`).join()}}\n`
    expect(await problem(merges + Array.from({ length: 1000 }, (_, i) => `b${i}: {<<: *a}\n`).join(''))).toContain(
      'aliasing',
    )
  })

  it('rejects more values than the limit, with and without aliases', async () => {
    expect(await problem(`[${'x,'.repeat(100_000)}]`)).toBe('yaml: exceeded max number of values')
    expect(await problem(`${'- {}\n'.repeat(100_000)}`)).toBe('yaml: exceeded max number of values')
    expect(await problem(`- &a []\n- [${'*a,'.repeat(100_000)}]`)).toBe('yaml: document contains excessive aliasing')
    expect((await parseYaml(`[${'x,'.repeat(99_999)}]`)).value).toHaveLength(99_999)
  })

  it('copies the targets of aliases', async () => {
    const { value } = await parseYaml('a: &a {b: [1]}\nc: *a\nd: {<<: *a}\n')
    const { a, c, d } = value as Record<string, { b: number[] }>
    a?.b.push(2)
    expect([c, d]).toEqual([{ b: [1] }, { b: [1] }])
  })

  it('rejects recursive aliases, and nesting beyond the limit, with and without aliases', async () => {
    expect(await problem('a: &x [*x]')).toBe('yaml: anchor value contains itself')
    const nestLists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect((await parseYaml(nestLists(MAX_DEPTH - 1))).value).toHaveLength(1)
    expect(await problem(nestLists(MAX_DEPTH + 1))).toContain('exceeded max depth')
    expect(await problem('['.repeat(100_000))).toContain('exceeded max depth')
    expect(await problem('- '.repeat(100_000))).toContain('exceeded max depth')
    expect(await problem(`a: &a ${nestLists(300)}\nb: ${'['.repeat(300)}*a${']'.repeat(300)}`)).toContain(
      'exceeded max depth',
    )
  })

  it.each(cases.proto)('rejects a key __proto__: %s', async (yaml) =>
    expect(await problem(yaml)).toBe('yaml: a key must not be named __proto__'),
  )

  it('accepts other names of prototype members', async () => {
    const { value, duplicates } = await parseYaml('constructor: 1\ntoString: {<<: {valueOf: 2}}\n')
    expect([stringify(value), duplicates]).toEqual(['{"constructor":1,"toString":{"valueOf":2}}', []])
  })

  it('never quotes the text', async () => {
    const secret = 'mpk_abcdefghijklmnop'
    const broken = cases.broken
    for (const shape of broken) {
      const message = await parseYaml(`key: ${shape.replaceAll('%', secret)}`).then(
        () => '',
        (error: Error) => error.message,
      )
      expect(message).not.toContain(secret.slice(0, 5))
    }
  })
})

describe('dumpYaml', () => {
  const ambiguous = cases.ambiguous

  it('quotes every string that Go would decode as another value', async () => {
    for (const text of ambiguous) {
      expect((await parseYaml(await dumpYaml({ [text || 'x']: [text] }))).value).toEqual({ [text || 'x']: [text] })
    }
  })

  it('quotes every string that Kubernetes quotes', async () => {
    const write = await yamlWriter()
    expect(quotedByKubernetes.length).toBeGreaterThan(2000)
    expect(quotedByKubernetes.filter((text) => write([text]) === `- ${text}\n`)).toEqual([])
  })

  it('writes strings that readers of YAML 1.1 and 1.2 decode to the same strings', async () => {
    const text = await dumpYaml([...yamlStrings])
    expect(load(text)).toEqual(yamlStrings)
    expect(load(text, { schema: YAML11_SCHEMA })).toEqual(yamlStrings)
    expect((await parseYaml(text)).value).toEqual(yamlStrings)
  })

  it('writes YAML that parseYaml and js-yaml decode to the same value', async () => {
    const value = fc.jsonValue({ maxDepth: 4 }).map((one) => JSON.parse(JSON.stringify(one)) as JsonValue)
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        fc.pre(!JSON.stringify(one).includes('__proto__'))
        const text = await dumpYaml(one)
        expect(stringify((await parseYaml(text)).value)).toBe(stringify(one))
        expect(JSON.stringify(load(text))).toBe(JSON.stringify(one))
      }),
      { numRuns: 200 },
    )
  })

  it('writes bigint as digits, no anchors and no folded lines, and omits undefined members', async () => {
    const shared = { long: 'word '.repeat(60) }
    const text = await dumpYaml({ big: 9223372036854775807n, a: shared, b: shared, c: undefined } as never)
    expect(text).toBe(`big: 9223372036854775807\na:\n  long: '${shared.long}'\nb:\n  long: '${shared.long}'\n`)
  })
})
