import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StatusError } from '../../../lib/meta/errors.ts'
import { type LabelSelector, matches, parseLabelSelector } from '../../../lib/meta/labels.ts'
import vectors from './vectors/labels.json' with { type: 'json' }

const labels = vectors.labels as Record<string, string>[]

const parse = (text: string): { selector: LabelSelector } | { error: string } => {
  try {
    return { selector: parseLabelSelector(text) }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    expect(error.status).toMatchObject({ code: 400, reason: 'BadRequest' })
    return { error: error.message }
  }
}

it.each([
  ['a\0', 'a'],
  ['\0a', ''],
  ['a=b\0', 'a=b'],
  ['a\0=\0b\0,c', 'a=b,c'],
  ['a=b, \0zzz', "found '', expected: identifier after ','"],
  ['a=b\0zzz', "found 'zzz', expected: ',' or 'end of string'"],
  ['!\0=a', "unable to parse requirement: found '=', expected: identifier"],
])('NUL ends a word, a sign, or the text: %j is %j', (text, meaning) => {
  const found = parse(text)
  expect(found).toEqual('error' in found ? { error: meaning } : parse(meaning))
})

describe('label selectors are those of apimachinery', () => {
  it.each(vectors.selectors as { selector: string; matches?: number[]; error?: string }[])(
    '$selector',
    ({ selector, matches: want, error }) => {
      const parsed = parse(selector)
      if (error !== undefined) return expect(parsed).toEqual({ error })
      expect(parsed).toHaveProperty('selector')
      if ('selector' in parsed) {
        expect(labels.flatMap((one, index) => (matches(parsed.selector, one) ? [index] : []))).toEqual(want)
      }
    },
  )

  it('sees no labels that an object inherits', () => {
    expect(matches(parseLabelSelector('constructor'), {})).toBe(false)
    expect(matches(parseLabelSelector('!toString,hasOwnProperty!=x'), {})).toBe(true)
    expect(matches(parseLabelSelector('constructor=x'), { constructor: 'x' })).toBe(true)
  })

  it('parses any text or says 400, and takes no longer for hostile ones', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=!(),<> in1/-\0\\\u00e9'), maxLength: 20 }), (text) => {
        parse(text)
      }),
      { numRuns: 500 },
    )
    expect(parse('('.repeat(100_000))).toHaveProperty('error')
    expect(parse(`a in (${'b,'.repeat(50_000)}c)`)).toHaveProperty('selector')
  })
})
