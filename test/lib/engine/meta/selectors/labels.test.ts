import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import { matcherOf, textOf } from '../../../../../lib/engine/meta/selectors/labelmatcher.ts'
import { type LabelSelector, parseLabelSelector } from '../../../../../lib/engine/meta/selectors/labels.ts'
import vectors from '../vectors/labels.json' with { type: 'json' }
import cases from './vectors/labels.cases.json' with { type: 'json' }

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

it.each(cases.nul as [string, string][])('a NUL ends a word, an operator or the text: %j is %j', (text, meaning) => {
  const found = parse(text)
  expect(found).toEqual('error' in found ? { error: meaning } : parse(meaning))
})

describe('label selectors', () => {
  it.each(vectors.selectors as { selector: string; matches?: number[]; error?: string }[])(
    '$selector',
    ({ selector, matches: want, error }) => {
      const parsed = parse(selector)
      if (error !== undefined) return expect(parsed).toEqual({ error })
      expect(parsed).toHaveProperty('selector')
      if ('selector' in parsed) {
        expect(labels.flatMap((one, index) => (matcherOf(parsed.selector)(one) ? [index] : []))).toEqual(want)
        for (const index of want ?? [])
          expect(JSON.stringify({ labels: labels[index] })).toContain(textOf(parsed.selector) ?? '')
      }
    },
  )

  it('ignore inherited properties', () => {
    expect(matcherOf(parseLabelSelector('constructor'))({})).toBe(false)
    expect(matcherOf(parseLabelSelector('!toString,hasOwnProperty!=x'))({})).toBe(true)
    expect(matcherOf(parseLabelSelector('constructor=x'))({ constructor: 'x' })).toBe(true)
  })

  // threat: gateway-11
  it('parse their numbers once, and no labels of objects that cannot match', () => {
    const terms = Array.from({ length: 1000 }, (_, index) => `weight>${index},size<${index},!no${index},a!=${index}`)
    const matches = matcherOf(parseLabelSelector(terms.join(',')))
    const numbers = vi.spyOn(BigInt, 'asIntN')
    const objects = Array.from({ length: 100 }, (_, index) => ({ weight: `${index + 950}`, size: '-1', a: 'b' }))
    expect(objects.filter(matches)).toHaveLength(50)
    expect(numbers.mock.calls.length).toBeLessThanOrEqual(2 * objects.length)
    numbers.mockClear()
    expect(objects.filter(() => matches({ other: '1' }))).toHaveLength(0)
    expect(numbers).not.toHaveBeenCalled()
    numbers.mockRestore()
  })

  it('parse any text or throw 400, in linear time', () => {
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
