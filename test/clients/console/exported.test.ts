/** The files of exported keys: what they say, that no spreadsheet computes with them, and that they have no secret. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvOf } from '../../../clients/console/src/pages/keys/exported.ts'
import { ago, ahead, DAY, HOUR, keyOf, keys } from './keys.ts'

const [full, bare] = [
  keyOf({
    name: 'ci',
    status: { lastActivity: ago(HOUR), expirationTimestamp: ahead(DAY), values: [{ state: 'Pending' }] },
  }),
  keyOf({
    name: 'old',
    spec: { scope: undefined },
    status: { owner: undefined, lastActivity: undefined, expirationTimestamp: undefined },
  }),
]

/** Reads CSV as RFC 4180 defines it. */
function fieldsOf(csv: string): string[][] {
  expect(csv).toMatch(/^(("([^"]|"")*"(,|\r\n)))*$/)
  const rows: string[][] = [[]]
  for (const [, text = '', end] of csv.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    rows.at(-1)?.push(text.replaceAll('""', '"'))
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

test('a CSV file has a line of titles and a line for each key', () =>
  expect(fieldsOf(csvOf([full, bare]))).toEqual([
    ['Name', 'Owner', 'May do', 'Created', 'Last used', 'Expires', 'State'],
    ['ci', 'alice', 'project demo', ago(2 * HOUR), ago(HOUR), ahead(DAY), 'Active, Rotation pending'],
    ['old', '', 'everything its owner and groups may', ago(2 * HOUR), '', '', 'Active'],
  ]))

describe('a field', () => {
  const owned = (owner: string) => fieldsOf(csvOf([keyOf({ status: { owner } })]))[1]?.[1]

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t1', '\r1', '\n1', '＝1', ' =1', '=HYPERLINK("http://x","y")'])(
    'that begins as %j is a text for spreadsheets',
    (owner) => expect(owned(owner)).toBe(`'${owner}`),
  )

  // threat: people-7
  test.each([
    ['a;=1', "a;'=1"],
    ['a\t+1', "a\t'+1"],
    ['a\n-1', "a\n'-1"],
    ['a\r\n@SUM(A1)', "a\r\n'@SUM(A1)"],
    ['a,=1', "a,'=1"],
    ['a; =1;＝1', "a;' =1;'＝1"],
    ['\t=1', "'\t'=1"],
  ])('%j has no formula after a separator or a line break', (owner, text) => expect(owned(owner)).toBe(text))

  test.each(['team:shop', 'a=b', 'a,b', 'a"b', 'a\r\nb', "'x", ''])('with %j stays as it is', (owner) =>
    expect(owned(owner)).toBe(owner),
  )

  test('never begins a formula, and never ends before its end, whatever the keys are', () => {
    fc.assert(
      fc.property(keys, (all) => {
        const rows = fieldsOf(csvOf(all))
        expect(rows).toHaveLength(all.length + 1)
        for (const row of rows) {
          expect(row).toHaveLength(7)
          expect(row.filter((one) => /(^|[;\t\r\n])[=+\-@]|^[\t\r\n]/.test(one))).toEqual([])
        }
      }),
    )
  })
})

test('a file has no value, no hint and no hash', () => {
  const hash = 'c0ffee'.repeat(10)
  const secret = { ...keyOf(), spec: { key: `mpk_${'a'.repeat(49)}`, hash }, hash }
  const text = csvOf([{ ...secret, status: { values: [{ state: 'Current', hint: 'zq9' }] } }])
  expect(text).not.toMatch(/mpk_|c0ffee|zq9/)
})
