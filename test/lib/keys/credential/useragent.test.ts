import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { shortUserAgent } from '../../../../lib/keys/credential/useragent.ts'

describe('shortUserAgent', () => {
  const key = generateAccessKey(() => new Uint8Array(32).fill(7))
  const token = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from('{}').toString('base64url')}.c2ln`

  test.each([
    ['is cut to 64 characters', 'x'.repeat(65), 'x'.repeat(64)],
    ['is cut between characters', `${'x'.repeat(63)}\u{1f600}\u{1f600}`, `${'x'.repeat(63)}\u{1f600}`],
    ['has no control characters', 'a\u0000b\tc\r\nd\u007fe\u0085f', 'abcdef'],
    ['shows invisible characters', 'a\u202eb\u200bc', 'a\ufffdb\ufffdc'],
    [
      'is UTF-8 whose bytes the server shows as characters',
      'J\u00c3\u00bcrgen \u00e2\u0098\u0083',
      'J\u00fcrgen \u2603',
    ],
    ['keeps other texts', 'J\u00fcrgen', 'J\u00fcrgen'],
    ['has no control characters in UTF-8', 'a\u00c2\u0085b', 'ab'],
    ['has no access key', `curl ${key}`, 'curl <redacted>'],
    ['has no access key that control characters divide', `a ${key.slice(0, 9)}\u0001${key.slice(9)}`, 'a <redacted>'],
    ['has no part of an access key', `a ${key.slice(0, 30)}`, 'a <redacted>'],
    ['has no part of an access key where it is cut', `${'x'.repeat(40)} ${key}`, `${'x'.repeat(40)} <redacted>`],
    ['has no token', `a ${token}`, 'a <redacted>'],
  ])('%s', (_, text, expected) => expect(shortUserAgent(text)).toBe(expected))

  // threat: use-16
  test('never contains a key, wherever it is and however long the rest', () => {
    fc.assert(
      fc.property(fc.nat(20_000), fc.constantFrom('x', ' ', '\u0000', 'mpk_'), (length, fill) => {
        expect(shortUserAgent(fill.repeat(length) + key)).not.toContain(key.slice(0, 20))
      }),
      { numRuns: 200 },
    )
  })
})
