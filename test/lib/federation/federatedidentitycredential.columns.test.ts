import { expect, test } from 'vitest'
import { columns } from '../../../lib/federation/federatedidentitycredential.ts'

test.each([
  [118, ''],
  [119, '…'],
])('the claims of a trust with a value of %i characters are cut above 120 characters', (length, end) => {
  const claims = [{ claim: 'a', values: ['v'.repeat(length)] }]
  const shown = columns.find(({ name }) => name === 'Claims')
  const object = { apiVersion: '', kind: '', metadata: {}, spec: { claims } }
  expect(shown?.value(object, new Date())).toBe(`a=${'v'.repeat(118)}${end}`)
})
