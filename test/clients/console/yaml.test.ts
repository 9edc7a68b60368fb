/** What the console writes as YAML is read back as the same value, by js-yaml and by the API's own reader. */
import fc from 'fast-check'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { type Json, toYaml } from '../../../clients/console/src/text/yaml.ts'
import { parseYaml } from '../../../lib/engine/meta/encoding/yaml.ts'
import { character } from '../../support/characters.ts'
import { quotedByKubernetes } from '../../support/yamlstrings.ts'

/** Texts that some reader of YAML takes for something else, or that could break out of their place. */
const ODD = [
  ...['', ' ', 'yes', 'No', 'y', 'on', 'OFF', 'true', 'null', '~', '1', '-1', '010', '0o10', '0x1f', '1e3', '1_000'],
  ...['.inf', '1:30', '2026-11-22', '- a', '-', '--- ', '---', '...', '# a', 'a #b', 'a: b', 'a:', ':a', '{a}', '[a]'],
  ...[
    '*a',
    '&a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
    '"',
    "'",
    "it's",
    '\\',
    '<<',
    '=',
    '? a',
    'a b',
    'a  b',
    ' a',
    'a ',
  ],
  ...[
    'a\nb',
    'a\n---\nb',
    'a\r\nb',
    '\u0000',
    '\u0085',
    '\u2028',
    '\u202e',
    '\ufeff',
    'admin\u3164',
    '\uffff',
    '\u{1f600}',
    '\u{e0001}',
  ],
]
const text = fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: character }), fc.string())
const name = text.filter((one) => one !== '__proto__')
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

const readers: [string, (yaml: string) => unknown][] = [
  ['js-yaml', load],
  ["the API's reader", async (yaml) => (await parseYaml(yaml)).value],
]

describe.each(readers)('%s reads back', (_, read) => {
  test.each(ODD)('the text %j', async (one) => {
    expect(await read(toYaml({ a: one, [one]: [one] }))).toEqual({ a: one, [one]: [one] })
  })

  test('any value', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        expect(await read(toYaml(one))).toEqual(one)
      }),
      { numRuns: 500 },
    )
  })

  test('a key that is longer than readers accept before a colon', async () => {
    const long = { ['k'.repeat(2000)]: { a: 1 }, ['"'.repeat(2000)]: ['x', ''] }
    expect(await read(toYaml(long))).toEqual(long)
  })
})

describe('toYaml', () => {
  test('quotes every string that Kubernetes quotes', () =>
    expect(quotedByKubernetes.filter((one) => toYaml(one) === `${one}\n`)).toEqual([]))

  test('writes an object as people do', () => {
    const object = {
      kind: 'OwnedAccessKey',
      metadata: { name: 'ci', labels: undefined },
      spec: { displayName: 'CI of demo', ttl: 86400, scope: { projects: [{ project: 'demo', more: [] }] }, empty: {} },
    }
    expect(toYaml(object)).toBe(`kind: OwnedAccessKey
metadata:
  name: ci
spec:
  displayName: CI of demo
  ttl: 86400
  scope:
    projects:
      - project: demo
        more: []
  empty: {}
`)
  })

  test('never begins a line with a text of others, and shows what cannot be seen', () => {
    fc.assert(
      fc.property(name, text, (key, one) => {
        const written = toYaml({ spec: { [key]: one, list: [one] } })
        expect(written.trimEnd().split('\n').length).toBeLessThanOrEqual(5)
        expect(written).not.toMatch(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/u)
      }),
    )
  })

  test('replaces half a character, as the API does', () => expect(toYaml('a\ud800')).toBe('"a\ufffd"\n'))
})
