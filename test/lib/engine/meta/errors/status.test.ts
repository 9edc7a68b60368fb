/** Tests that errors about hostile values fit into a response. */
import { describe, expect, it } from 'vitest'
import { formatValue } from '../../../../../lib/engine/meta/encoding/badvalue.ts'
import { invalid } from '../../../../../lib/engine/meta/errors/fielderror.ts'
import { applyConflict, badRequest, invalidObject, notFound } from '../../../../../lib/engine/meta/errors/status.ts'

const long = 'x'.repeat(3_000_000)
const size = (error: { status: object }): number => JSON.stringify(error.status).length

describe('a field error', () => {
  it('quotes only the beginning of a long value', () => {
    expect(formatValue(long)).toBe(`"${'x'.repeat(16_384)}" ...`)
    expect(formatValue([long])).toBe(`["${'x'.repeat(16_382)} ...`)
    expect(formatValue('x'.repeat(16_384))).toBe(`"${'x'.repeat(16_384)}"`)
  })
})

describe('a Status', () => {
  const findings = (count: number) =>
    Array.from({ length: count }, (_, index) => invalid(`spec.list[${index}]`, 'x', 'no'))

  it('contains all errors of an ordinary object', () => {
    const { message, details } = invalidObject('example.com', 'Thing', 'a', findings(1000)).status
    expect(details?.causes).toHaveLength(1000)
    expect(message?.endsWith('spec.list[999]: Invalid value: "x": no]')).toBe(true)
  })

  it('contains only the first of very many errors, and mentions the others', () => {
    const error = invalidObject('example.com', 'Thing', 'a', findings(100_000))
    const { message = '', details } = error.status
    expect(details?.causes?.length ?? 0).toBeGreaterThan(1000)
    expect(message.endsWith(' and more')).toBe(true)
    expect(size(error)).toBeLessThan(1_000_000)
  })

  it('contains at least one error, however long', () => {
    const error = invalidObject('example.com', 'Thing', long, [
      { type: 'FieldValueInvalid', field: long, message: long },
    ])
    expect(error.status.details?.causes).toHaveLength(1)
    expect(size(error)).toBeLessThan(1_000_000)
  })

  it('contains only the first of very many conflicts', () => {
    const causes = Array.from({ length: 100_000 }, (_, index) => ({
      reason: 'FieldManagerConflict',
      message: 'conflict with "other"',
      field: `.metadata.labels.label-${index}`,
    }))
    const error = applyConflict(long, causes)
    expect(error.status.details?.causes?.[0]).toEqual(causes[0])
    expect(size(error)).toBeLessThan(2_000_000)
  })

  it('shortens long texts', () => {
    expect(size(badRequest(long))).toBeLessThan(1_000_000)
    expect(size(notFound({ group: 'example.com', resource: 'things' }, long))).toBeLessThan(1_000_000)
  })
})
