/** What the console takes for the value of a key, and which addresses may be reported. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressHolds } from '../../../clients/console/src/pages/whose/reportedaddress.ts'
import { isLikeValue } from '../../../clients/console/src/text/keyvalue.ts'
import { encodeKey } from '../../../lib/engine/meta/value/credentialformat.ts'

describe('a value', () => {
  test('is recognized, whoever has made it', () => {
    const value = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeKey),
      fc.stringMatching(/^[0-9a-f]{31,63}[0-9]$/),
      fc.stringMatching(/^[A-Za-z0-9]{30,62}A1$/),
      fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_-]{29,61}A1$/),
      fc.stringMatching(/^[A-Za-z0-9+][A-Za-z0-9+/]{40}A1=$/),
      fc.constant('eyJhbGciOiJub25lIn0.e30.'),
    )
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n'), (one, space) => {
        expect(isLikeValue(`${space}${one}${space}`)).toBe(true)
        expect(isLikeValue(`ci owner:${one}`)).toBe(true)
      }),
    )
  })

  test.each(['ci', 'shop-deploy-ab2c', `a-${'b'.repeat(60)}`, 'f47ac10b-58cc-4372-a567-0e02b2c3d479'])(
    'is not the name %s',
    (name) => expect([isLikeValue(name), isLikeValue(`owner:${name}`)]).toEqual([false, false]),
  )
})

describe('an address that is reported', () => {
  const value = 'own-Value/with+32=characters-xxxx'
  const encoded = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')

  test('holds no value, however it is written', () => {
    fc.assert(
      fc.property(fc.constantFrom('/', '/?q=', '/#'), fc.nat(4), fc.boolean(), (before, layers, isUpper) => {
        let text = isUpper ? value.toUpperCase() : value
        for (let layer = 0; layer < layers; layer++) text = encoded(text)
        expect(addressHolds(`https://example.com${before}${text}`, value)).toBe(true)
      }),
    )
  })

  test.each([
    `https://example.com/${encodeURIComponent(encodeURIComponent('mpk_abc'))}`,
    'https://example.com/#%6d%70%6b%5fabc',
    'https://example.com/%256d%2570%256b%255fabc',
    `https://example.com/%${'25'.repeat(20)}41`,
  ])('is not %s', (address) => expect(addressHolds(address, value)).toBe(true))

  test.each(['', 'https://github.com/org/repo/blob/0123456789abcdef0123456789abcdef01234567/a.md', 'https://x/%zz%e4'])(
    'may be %s',
    (address) => expect([addressHolds(address, value), addressHolds(address, '')]).toEqual([false, false]),
  )
})
