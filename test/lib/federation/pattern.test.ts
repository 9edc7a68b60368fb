import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { fitsPattern, invalidPattern } from '../../../lib/federation/pattern.ts'
import cases from './vectors/pattern.cases.json' with { type: 'json' }

describe('fitsPattern', () => {
  test.each(cases.accepted as [string, string][])('accepts: %s, %s', (pattern, text) =>
    expect(fitsPattern(pattern, text)).toBe(true),
  )

  test.each(cases.rejected as [string, string][])('rejects: %s, %s', (pattern, text) =>
    expect(fitsPattern(pattern, text)).toBe(false),
  )

  test.each(['*', '*x', '**', 'a**', 'a*b*c*d*e*f'])('rejects every text for the invalid pattern %s', (pattern) => {
    for (const text of ['', 'a', 'x', 'abcdef', pattern]) expect(fitsPattern(pattern, text)).toBe(false)
  })

  const characters = fc.constantFrom('a', 'b', '/', ':', '@')
  const text = fc.string({ unit: characters, maxLength: 14 })
  const pattern = fc.string({ unit: fc.oneof(characters, fc.constant('*')), maxLength: 10 })

  /** Says what a pattern means, character by character and in exponential time. */
  function fits(pattern: string, text: string): boolean {
    if (pattern === '') return text === ''
    if (pattern[0] !== '*') return pattern[0] === text[0] && fits(pattern.slice(1), text.slice(1))
    const mayTake = text !== '' && !'/:@'.includes(text.charAt(0))
    return fits(pattern.slice(1), text) || (mayTake && fits(pattern, text.slice(1)))
  }

  // threat: exchange-4
  test('agrees with a naive evaluator', () => {
    const property = fc.property(pattern, text, (pattern, text) => {
      fc.pre(invalidPattern(pattern) === undefined)
      expect(fitsPattern(pattern, text)).toBe(fits(pattern, text))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  test('agrees with a naive evaluator on texts that almost fit', () => {
    const filled = fc.tuple(
      pattern,
      fc.array(
        text.map((part) => part.slice(0, 3)),
        { minLength: 5, maxLength: 5 },
      ),
    )
    const property = fc.property(filled, ([pattern, parts]) => {
      fc.pre(invalidPattern(pattern) === undefined)
      const text = pattern.replace(/\*/g, () => parts.pop() ?? '')
      expect(fitsPattern(pattern, text)).toBe(fits(pattern, text))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  // threat: exchange-4
  test('never lets a wildcard take a delimiter: text and pattern have the same ones in the same order', () => {
    const delimiters = (text: string) => text.replace(/[^/:@]/g, '')
    const property = fc.property(pattern, text, (pattern, text) => {
      if (fitsPattern(pattern, text)) expect(delimiters(text)).toBe(delimiters(pattern))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  test('reads each character of a long text at most once between the parts, and searches each part once', () => {
    const text = `${'a'.repeat(20_000)}!`
    const searches = vi.spyOn(String.prototype, 'indexOf')
    const reads = vi.spyOn(String.prototype, 'charAt')
    const results = ['a*a*a*a*b', 'a*aa*aaa*!', 'a*a*b*a*!'].map((pattern) => fitsPattern(pattern, text))
    const [searched, read] = [searches.mock.calls.length, reads.mock.calls.length]
    searches.mockRestore()
    reads.mockRestore()
    expect(results).toEqual([false, true, false])
    expect(searched).toBeLessThanOrEqual(3 * 3)
    expect(read).toBeLessThanOrEqual(3 * text.length)
  })
})

describe('invalidPattern', () => {
  test.each(cases.wrong as [string, string][])('says what is wrong with %s', (pattern, reason) =>
    expect(invalidPattern(pattern)).toBe(reason),
  )

  test.each(['main', 'refs/heads/*', 'a*b*c*d*'])('returns nothing for %s', (pattern) => {
    expect(invalidPattern(pattern)).toBeUndefined()
  })
})
