import { expect, it } from 'vitest'
import { floatText, formatGoSyntax, formatV, typeName } from '../../../../lib/meta/encoding/gotext.ts'

// Source: fmt.Sprintf("%v", float64) of Go 1.24.
it.each([
  [1.5, '1.5'],
  [-1234567.5, '-1.2345675e+06'],
  [100000, '100000'],
  [1000000, '1e+06'],
  [999999.5, '999999.5'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1e20, '1e+20'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [5e-324, '5e-324'],
  [2 ** 63, '9.223372036854776e+18'],
  [0, '0'],
  [-0, '-0'],
])('formats %d as Go formats a float64', (value, text) => expect(floatText(value)).toBe(text))

it('distinguishes floating-point numbers from integers in every format', () => {
  const value = [5, 5n, -1234567.5, 2 ** 63]
  expect(formatV(value)).toBe('[5 5 -1.2345675e+06 9.223372036854776e+18]')
  expect(formatGoSyntax(value)).toBe('[]interface {}{5, 5, -1.2345675e+06, 9.223372036854776e+18}')
  expect(value.map(typeName)).toEqual(['int64', 'int64', 'float64', 'float64'])
})
