/** What the console checks and makes itself agrees with what the server accepts and makes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nameProblem, randomName } from '../../../clients/console/src/text/names.ts'
import { dnsSubdomainErrors } from '../../../lib/engine/meta/object/names.ts'

const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size))

describe('nameProblem', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '.', 'ü', ' ', '\n'), maxLength: 8 })
  test.each(['', 'a', 'a'.repeat(253), 'a'.repeat(254), 'a.b', 'a..b', '-a', 'a-', 'a\n', 'ß'])(
    'says of %j what the server says',
    (name) => expect(nameProblem(name) === undefined).toBe(dnsSubdomainErrors(name).length === 0),
  )

  test('says of any name what the server says', () => {
    fc.assert(
      fc.property(part, (name) => (nameProblem(name) === undefined) === (dnsSubdomainErrors(name).length === 0)),
    )
  })
})

test('a random name is valid, and never the same twice', () => {
  const names = Array.from({ length: 1000 }, () => randomName('key-', randomBytes))
  expect(new Set(names).size).toBe(1000)
  for (const name of names) expect(name).toMatch(/^key-[bcdfghjklmnpqrstvwxz2456789]{8}$/)
})
