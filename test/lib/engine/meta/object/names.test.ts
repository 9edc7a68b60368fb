import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  generateName,
  labelValueErrors,
  maskTrailingDash,
  pathSegmentErrors,
  qualifiedNameErrors,
} from '../../../../../lib/engine/meta/object/names.ts'
import cases from './vectors/names.cases.json' with { type: 'json' }

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

test.each([
  ['default', []],
  ['a'.repeat(63), []],
  ['a'.repeat(64), ['must be no more than 63 characters']],
  ['a.b', ['must not contain dots']],
  ['A', [LABEL]],
  ['', [LABEL]],
  ['-a', [LABEL]],
  ['a\n', [LABEL]],
  ['p-x', []],
])('validates the DNS label %j', (value, errors) => expect(dnsLabelErrors(value)).toEqual(errors))

test.each(cases.segments as [string, boolean, string[]][])(
  'validates the path segment %j (prefix: %j)',
  (value, prefix, errors) => {
    expect(pathSegmentErrors(value, prefix)).toEqual(errors)
  },
)

test.each(cases.masked as [string, string][])('masks the dash at the end of %j', (prefix, masked) =>
  expect(maskTrailingDash(prefix)).toBe(masked),
)

describe('generated names', () => {
  const countUp = () => {
    let next = 0
    return (bound: number) => next++ % bound
  }

  test('get a suffix of five characters without vowels', () => {
    expect(generateName('ci-', countUp())).toBe('ci-bcdfg')
    expect(generateName('ci-', (bound) => bound - 1)).toBe('ci-99999')
  })

  test('have at most 63 characters', () =>
    expect(generateName('x'.repeat(100), countUp())).toBe(`${'x'.repeat(58)}bcdfg`))

  test('use each of the 27 characters of the alphabet', () => {
    const bounds = new Set<number>()
    generateName('a', (bound) => {
      bounds.add(bound)
      return 0
    })
    expect([...bounds]).toEqual([27])
  })
})

describe('validation agrees with the regular expressions in the messages', () => {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
  const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
  const text = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '_', '.', '/', ' ', 'é', '\n'), maxLength: 12 })
  const agrees = (check: (value: string) => string[], expression: string) =>
    fc.assert(
      fc.property(text, (value) => {
        expect(check(value).length === 0).toBe(new RegExp(`^(?:${expression})$`).test(value))
      }),
      { seed: 7, numRuns: 2000 },
    )

  test('for labels', () => agrees(dnsLabelErrors, label))
  test('for subdomains', () => agrees(dnsSubdomainErrors, `${label}(\\.${label})*`))
  test('for label values', () => agrees(labelValueErrors, `(${qualified})?`))
  test('for qualified names', () => agrees(qualifiedNameErrors, `(${label}(\\.${label})*/)?${qualified}`))
})

test('rejects names of a million characters in linear time', () => {
  const long = 'a.'.repeat(1_000_000)
  expect(dnsSubdomainErrors(long)).toHaveLength(2)
  expect(qualifiedNameErrors(`${long}/${'-'.repeat(1_000_000)}`)).toHaveLength(4)
  expect(labelValueErrors('a_'.repeat(1_000_000))).toHaveLength(2)
})
