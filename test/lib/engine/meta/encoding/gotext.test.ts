import { expect, it } from 'vitest'
import { floatText, formatGoSyntax, formatV, typeName } from '../../../../../lib/engine/meta/encoding/gotext.ts'
import cases from './vectors/gotext.cases.json' with { type: 'json' }

// Source: fmt.Sprintf("%v", float64) of Go 1.24.
it.each([...(cases.numbers as [number, string][]), [-0, '-0']])('formats %d as Go formats a float64', (value, text) =>
  expect(floatText(value)).toBe(text),
)

it('distinguishes floating-point numbers from integers in every format', () => {
  const value = [5, 5n, -1234567.5, 2 ** 63]
  expect(formatV(value)).toBe('[5 5 -1.2345675e+06 9.223372036854776e+18]')
  expect(formatGoSyntax(value)).toBe('[]interface {}{5, 5, -1.2345675e+06, 9.223372036854776e+18}')
  expect(value.map(typeName)).toEqual(['int64', 'int64', 'float64', 'float64'])
})
