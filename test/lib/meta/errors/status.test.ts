/** What answers say of hostile values stays smaller than what can be answered. */
import { describe, expect, it } from 'vitest'
import { formatValue } from '../../../../lib/meta/encoding/badvalue.ts'
import { invalid } from '../../../../lib/meta/errors/fielderror.ts'
import { applyConflict, badRequest, invalidObject, notFound } from '../../../../lib/meta/errors/status.ts'

const long = 'x'.repeat(3_000_000)
const size = (error: { status: object }): number => JSON.stringify(error.status).length

describe('a finding', () => {
  it('shows the beginning of a long value', () => {
    expect(formatValue(long)).toBe(`"${'x'.repeat(16_384)}" ...`)
    expect(formatValue([long])).toBe(`["${'x'.repeat(16_382)} ...`)
    expect(formatValue('x'.repeat(16_384))).toBe(`"${'x'.repeat(16_384)}"`)
  })
})

describe('a Status', () => {
  const findings = (count: number) =>
    Array.from({ length: count }, (_, index) => invalid(`spec.list[${index}]`, 'x', 'no'))

  it('has all findings of an object that a person wrote', () => {
    const { message, details } = invalidObject('example.com', 'Thing', 'a', findings(1000)).status
    expect(details?.causes).toHaveLength(1000)
    expect(message?.endsWith('spec.list[999]: Invalid value: "x": no]')).toBe(true)
  })

  it('has the first of findings without measure, and says that more follow', () => {
    const error = invalidObject('example.com', 'Thing', 'a', findings(100_000))
    const { message = '', details } = error.status
    const told = details?.causes?.length ?? 0
    expect(told).toBeGreaterThan(1000)
    expect(message.endsWith(' and more')).toBe(true)
    expect(size(error)).toBeLessThan(1_000_000)
  })

  it('has at least one finding, however long', () => {
    const error = invalidObject('example.com', 'Thing', long, [
      { type: 'FieldValueInvalid', field: long, message: long },
    ])
    expect(error.status.details?.causes).toHaveLength(1)
    expect(size(error)).toBeLessThan(1_000_000)
  })

  it('has the first of conflicts without measure', () => {
    const causes = Array.from({ length: 100_000 }, (_, index) => ({
      reason: 'FieldManagerConflict',
      message: 'conflict with "other"',
      field: `.metadata.labels.label-${index}`,
    }))
    const error = applyConflict(long, causes)
    expect(error.status.details?.causes?.[0]).toEqual(causes[0])
    expect(size(error)).toBeLessThan(2_000_000)
  })

  it('says nothing long', () => {
    expect(size(badRequest(long))).toBeLessThan(1_000_000)
    expect(size(notFound({ group: 'example.com', resource: 'things' }, long))).toBeLessThan(1_000_000)
  })
})
