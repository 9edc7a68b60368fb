/** What the console checks and makes itself agrees with what the server accepts and makes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressProblem } from '../../../clients/console/src/text/addresses.ts'
import { nameProblem, randomName } from '../../../clients/console/src/text/names.ts'
import { checkCIDR } from '../../../lib/access/users/sourcecidrs.ts'
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

describe('addressProblem', () => {
  const correct = [
    ...['10.0.0.0/8', '203.0.113.7', '0.0.0.0/0', '::/0', '::1', '2001:db8::/32', '2001:db8:0:1::/64', '1.2.3.4/32'],
    ...['fe80::1', '1:2:3:4:5:6:7:8', '64:ff9b::/96', '::fffe:0:0/95'],
  ]
  const wrong = [
    ...['', ' ', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/08', '010.0.0.1', '1.2.3', '1.2.3.4.5', '256.1.1.1', '0x7f.1'],
    ...'2001:DB8::/32 2001:db8::1/32 2001:0db8:: fe80::1%eth0 ::1/129 1::2::3 ::: ::ffff:10.0.0.1'.split(' '),
    ...[
      '::ffff:10.0.0.0/104',
      '::10.0.0.1',
      '::1.2.3',
      '::1.2.3.04',
      '1:2:3:4:5:6:7',
      'a',
      'localhost',
      '[::1]',
      '::ffff:0:0/95',
      '::1]/x',
      '1.1.1.1/',
    ],
  ]
  const server = (text: string): string | undefined => {
    const detail = checkCIDR(text)
    return detail?.startsWith('must be an IP') ? 'unknown' : detail?.slice('must be '.length)
  }
  const console = (text: string): string | undefined => {
    const [, better] = /^Write (\S+) instead of /.exec(addressProblem(text) ?? '') ?? []
    return better ?? (addressProblem(text) === undefined ? undefined : 'unknown')
  }

  test.each(correct)('accepts %s', (text) => {
    expect([addressProblem(text), checkCIDR(text)]).toEqual([undefined, undefined])
  })

  test.each(wrong)('refuses %j as the server does', (text) => {
    expect(console(text)).toBe(server(text))
    expect(addressProblem(text)).toBeDefined()
  })

  test('says of any text what the server says', () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.string({ unit: fc.constantFrom('1', '0', 'f', ':', '::', '.', 'F', '%') }),
    )
    const text = fc.oneof(
      address,
      fc.tuple(address, fc.nat(130)).map(([one, length]) => `${one}/${length}`),
    )
    fc.assert(
      fc.property(text, (one) => {
        expect(console(one)).toBe(server(one))
      }),
      { numRuns: 3000 },
    )
  })
})
