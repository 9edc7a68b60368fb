import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateAccessKey } from '../../../lib/authentication/accesskey.ts'
import { readSources, storedSources, withSource } from '../../../lib/authentication/lastsources.ts'

const source = (ip: string, at = 0, userAgent = 'curl/8.5.0') => ({ ip, userAgent, at })
const userAgentOf = (userAgent: string) => withSource([], { ip: '192.0.2.1', userAgent }, 0)[0]?.userAgent

describe('withSource', () => {
  test('puts the newest first and keeps five', () => {
    const all = ['1', '2', '3', '4', '5', '6'].map((last) => `192.0.2.${last}`)
    const list = all.reduce<ReturnType<typeof withSource>>((list, ip, at) => withSource(list, source(ip), at), [])
    expect(list).toEqual([
      source('192.0.2.6', 5),
      source('192.0.2.5', 4),
      source('192.0.2.4', 3),
      source('192.0.2.3', 2),
      source('192.0.2.2', 1),
    ])
  })

  test('has an address once, with its last client and time', () => {
    const list = [source('192.0.2.1', 1), source('192.0.2.2', 0)]
    expect(withSource(list, source('192.0.2.2', 0, 'kubectl'), 2)).toEqual([
      source('192.0.2.2', 2, 'kubectl'),
      source('192.0.2.1', 1),
    ])
  })

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 1],
    ['2001:db8:1:2::1', '2001:DB8:1:2:0::2', 1],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', 2],
    ['::1', '127.0.0.1', 2],
    ['::ffff:192.0.2.1', '192.0.2.1', 1],
    ['192.0.2.1', '192.0.2.2', 2],
  ])('counts %s and %s as %s', (one, other, count) => {
    expect(withSource([source(one)], source(other), 1)).toHaveLength(count)
  })

  test.each(['', 'test-invoke-source-ip', '192.0.2.1, 192.0.2.2', '[::1]'])('ignores %j, which is no address', (ip) => {
    const list = [source('192.0.2.1')]
    expect(withSource(list, source(ip), 1)).toEqual(list)
  })

  test('has an empty text for a client that names none', () => {
    expect(withSource([], { ip: '192.0.2.1' }, 1)).toEqual([source('192.0.2.1', 1, '')])
  })
})

describe('the user agent', () => {
  const key = generateAccessKey(() => new Uint8Array(32).fill(7))
  const token = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from('{}').toString('base64url')}.c2ln`

  test.each([
    ['is cut to 64 characters', 'x'.repeat(65), 'x'.repeat(64)],
    ['is cut between characters', `${'x'.repeat(63)}\u{1f600}\u{1f600}`, `${'x'.repeat(63)}\u{1f600}`],
    ['has no control characters', 'a\u0000b\tc\r\nd\u007fe\u0085f', 'abcdef'],
    ['shows invisible characters', 'a\u202eb\u200bc', 'a\ufffdb\ufffdc'],
    ['has no access key', `curl ${key}`, 'curl <redacted>'],
    ['has no access key that control characters divide', `a ${key.slice(0, 9)}\u0001${key.slice(9)}`, 'a <redacted>'],
    ['has no part of an access key', `a ${key.slice(0, 30)}`, 'a <redacted>'],
    ['has no part of an access key where it is cut', `${'x'.repeat(40)} ${key}`, `${'x'.repeat(40)} <redacted>`],
    ['has no token', `a ${token}`, 'a <redacted>'],
  ])('%s', (_, text, expected) => expect(userAgentOf(text)).toBe(expected))

  test('never contains a key, wherever it is and however long the rest', () => {
    fc.assert(
      fc.property(fc.nat(20_000), fc.constantFrom('x', ' ', '\u0000', 'mpk_'), (length, fill) => {
        expect(userAgentOf(fill.repeat(length) + key)).not.toContain(key.slice(0, 20))
      }),
      { numRuns: 200 },
    )
  })
})

describe('readSources', () => {
  test('reads what is stored', () => {
    const list = [source('192.0.2.1', 1), source('::1', 0, '')]
    expect(readSources(storedSources(list))).toEqual(list)
  })

  test.each([
    [undefined],
    [null],
    ['text'],
    [{}],
    [[1, null, 'x', [], {}]],
    [[{ ip: '192.0.2.1' }]],
    [[{ ip: '', userAgent: '', at: 1 }]],
    [[{ ip: '192.0.2.1', userAgent: 1, at: 1 }]],
    [[{ ip: '192.0.2.1', userAgent: '', at: -1 }]],
  ])('is empty for %j', (value) => {
    expect(readSources(value)).toEqual([])
  })

  test('reads at most five', () => {
    expect(readSources(Array.from({ length: 9 }, (_, at) => source('192.0.2.1', at)))).toHaveLength(5)
  })
})
