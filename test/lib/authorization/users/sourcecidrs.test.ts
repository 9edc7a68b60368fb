import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkCIDR, containsCIDRs, isWithinCIDRs } from '../../../../lib/authorization/users/sourcecidrs.ts'

/** IPv4 addresses that share prefixes of any length, so that the ranges of a test often touch. */
const address4 = fc
  .tuple(fc.constantFrom(0, 10, 127, 128, 255), fc.constantFrom(0, 1, 255), fc.nat(3), fc.nat(255))
  .map((parts) => parts.join('.'))
/** IPv6 addresses, also with `::` and with an embedded IPv4 address. */
const address6 = fc.oneof(
  fc
    .array(fc.constantFrom('0', '1', 'db8', '2001', 'ffff', 'fe80'), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.join(':'))
    // IPv4-mapped addresses have tests of their own.
    .filter((text) => !text.startsWith('0:0:0:0:0:ffff')),
  fc.constantFrom('::', '::1', '2001:db8::', '2001:db8::1', 'fe80::1', '2001:0DB8::1', '1::8', '::2:0:0:3'),
  address4.map((address) => `64:ff9b::${address}`),
)
const address = fc.oneof(address4, address6)

/** Returns a range in its one spelling: that which the check of another spelling names. */
const canonical = (text: string): string => checkCIDR(text)?.replace('must be ', '') ?? text
const range = fc
  .oneof(fc.tuple(address4, fc.nat(32)), fc.tuple(address6, fc.nat(128)))
  .map(([text, prefix]) => canonical(`${text}/${prefix}`))
const ranges = fc.array(fc.oneof(range, address.map(canonical)), { maxLength: 6 })

/**
 * Returns whether an address is in one of the ranges, as lists of Node judge it. It takes one list for each family,
 * because such a list finds every IPv4 address in `::/0`.
 */
function judge(list: readonly string[]): (text: string) => boolean {
  const blocks = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const one of list) {
    const [name = '', prefix] = one.split('/')
    const family = familyOf(name)
    blocks[family].addSubnet(name, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return (text) => blocks[familyOf(text)].check(text, familyOf(text))
}

const familyOf = (text: string) => (isIPv4(text) ? 'ipv4' : 'ipv6')

describe('isWithinCIDRs', () => {
  test('agrees with BlockList of node:net', () => {
    fc.assert(
      fc.property(address, ranges, (one, list) => {
        expect(isWithinCIDRs(one, list)).toBe(judge(list)(one))
      }),
      { numRuns: 2000 },
    )
  })

  test.each<[string, string[], boolean]>([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.0.0.0', ['10.0.0.0/8'], false],
    ['203.0.113.7', ['203.0.113.7'], true],
    ['203.0.113.8', ['203.0.113.7'], false],
    ['203.0.113.7', ['192.0.2.0/24', '203.0.113.0/24'], true],
    ['0.0.0.0', ['0.0.0.0/0'], true],
    ['255.255.255.255', ['0.0.0.0/0'], true],
    ['::1', ['0.0.0.0/0'], false],
    ['127.0.0.1', ['::/0'], false],
    ['::1', ['::1'], true],
    ['0:0:0:0:0:0:0:1', ['::1/128'], true],
    ['2001:db8:ffff::1', ['2001:db8::/32'], true],
    ['2001:db9::', ['2001:db8::/32'], false],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['::ffff:a01:203', ['10.0.0.0/8'], true],
    ['::FFFF:10.1.2.3', ['11.0.0.0/8'], false],
    ['::ffff:10.1.2.3', ['::/0'], false],
  ])('of %s and %j is %s', (one, list, expected) => {
    expect(isWithinCIDRs(one, list)).toBe(expected)
  })

  test.each([
    '',
    ' ',
    'test-invoke-source-ip',
    'localhost',
    '10.0.0.1 ',
    ' 10.0.0.1',
    '10.0.0.1,10.0.0.2',
    '10.0.0.1:443',
    '[::1]',
    'fe80::1%eth0',
    '::1%1',
    '010.0.0.1',
    '10.1',
    '0x0a000001',
    '167772161',
    '10.0.0.1/32',
    '::ffff:010.0.0.1',
    '10.0.0.256',
    '10.0.0.1\n',
    '１０.0.0.1',
  ])('is false for %j, which is no IP address', (one) => {
    expect(isWithinCIDRs(one, ['0.0.0.0/0', '::/0'])).toBe(false)
  })

  test('is false for an empty list, and for entries that are no ranges', () => {
    expect(isWithinCIDRs('10.0.0.1', [])).toBe(false)
    expect(isWithinCIDRs('10.0.0.1', ['', 'any', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '/0'])).toBe(false)
  })
})

describe('containsCIDRs', () => {
  test('is false exactly when the end of a range is outside, or a gap of the outer ranges is inside', () => {
    fc.assert(
      fc.property(ranges, ranges, (outer, inner) => {
        // Membership can only change at the ends of ranges and at their neighbours.
        const edges = [...outer, ...inner].flatMap(edgesOf)
        const [isOuter, isInner] = [judge(outer), judge(inner)]
        const escapes = edges.some((edge) => isInner(edge) && !isOuter(edge))
        expect(containsCIDRs(outer, inner)).toBe(!escapes)
      }),
      { numRuns: 1000 },
    )
  })

  test.each<[string[], string[], boolean]>([
    [['10.0.0.0/8'], ['10.0.0.0/8'], true],
    [['10.0.0.0/8'], ['10.1.0.0/16', '10.2.0.3'], true],
    [['10.1.0.0/16'], ['10.0.0.0/8'], false],
    [['10.0.0.0/9', '10.128.0.0/9'], ['10.0.0.0/8'], true],
    [['10.128.0.0/9', '10.0.0.0/10', '10.64.0.0/10'], ['10.0.0.0/8'], true],
    [['10.0.0.0/9', '10.128.0.1'], ['10.0.0.0/8'], false],
    [['0.0.0.0/1', '128.0.0.0/1'], ['0.0.0.0/0'], true],
    [['0.0.0.0/0'], ['::1'], false],
    [['::/0'], ['10.0.0.1'], false],
    [['::/1', '8000::/1'], ['::/0'], true],
    [['10.0.0.0/8'], ['10.0.0.1', '192.0.2.1'], false],
    [[], ['10.0.0.1'], false],
    [['10.0.0.0/8'], [], true],
    [['0.0.0.0/0', '::/0'], ['anything'], false],
  ])('of %j and %j is %s', (outer, inner, expected) => {
    expect(containsCIDRs(outer, inner)).toBe(expected)
  })
})

/** Returns the first and the last address of a range, and their neighbours, computed with numbers only. */
function edgesOf(text: string): string[] {
  const [name = '', length] = text.split('/')
  const bits = isIPv4(name) ? 32 : 128
  const first = numberOf(name, bits)
  const last = first + (1n << BigInt(bits - Number(length ?? bits))) - 1n
  const all = (1n << BigInt(bits)) - 1n
  return [first - 1n, first, last, last + 1n].filter((one) => one >= 0n && one <= all).map((one) => textOf(one, bits))
}

function numberOf(name: string, bits: number): bigint {
  if (bits === 32) return name.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
  const [before = '', after] = name.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const filled = after ? [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after] : before
  return [...filled].reduce((sum, part) => sum * 65536n + BigInt(`0x${part}`), 0n)
}

function textOf(value: bigint, bits: number): string {
  const [size, count] = bits === 32 ? [8, 4] : [16, 8]
  const parts = Array.from(
    { length: count },
    (_, index) => (value >> BigInt(size * (count - 1 - index))) & ((1n << BigInt(size)) - 1n),
  )
  return bits === 32 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':')
}

describe('checkCIDR', () => {
  test.each([
    '10.0.0.0/8',
    '203.0.113.7',
    '203.0.113.7/32',
    '0.0.0.0/0',
    '::',
    '::/0',
    '::1',
    '2001:db8::/32',
    '2001:db8::1',
    '1::8',
    '64:ff9b::/96',
    '::2:0:0:3',
    'fe80::/10',
  ])('accepts %s', (text) => {
    expect(checkCIDR(text)).toBeUndefined()
  })

  test.each([
    ['10.0.0.1/8', '10.0.0.0/8'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['10.0.0.1/31', '10.0.0.0/31'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8::/32', '2001:db8::/32'],
    ['2001:db8::1/32', '2001:db8::/32'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
    ['0:0:0:0:0:0:0:0/0', '::/0'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4'],
    ['1::2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['::ffff:10.0.0.1/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:10.0.0.1/90', '::ffc0:0:0/90'],
    ['64:ff9b::10.0.0.0/104', '64:ff9b::a00:0/104'],
  ])('says what %s has to be', (text, expected) => {
    expect(checkCIDR(text)).toBe(`must be ${expected}`)
    expect(checkCIDR(expected)).toBeUndefined()
  })

  test.each([
    '',
    'any',
    '*',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/255.0.0.0',
    '10.0.0',
    '10.0.0.0-10.0.0.9',
    '010.0.0.0/8',
    '::/129',
    '::1%lo',
    'fe80::%eth0/64',
    '[::1]',
    ':::',
    '::1::',
    '10.0.0.0/8 ',
    '１０.0.0.0/8',
    '10.0.0.0/٨',
    'a'.repeat(100_000),
  ])('rejects %s', (text) => {
    expect(checkCIDR(text)).toBe('must be an IP address or a CIDR, such as 203.0.113.7 or 10.0.0.0/8')
  })

  test('names a spelling that it accepts, with the same addresses', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(address4, fc.nat(32)), fc.tuple(address6, fc.nat(128))), ([text, prefix]) => {
        const one = canonical(`${text}/${prefix}`)
        expect(checkCIDR(one)).toBeUndefined()
        expect(isWithinCIDRs(text, [one])).toBe(true)
        expect(containsCIDRs([one], [`${text}/${prefix}`])).toBe(true)
      }),
    )
  })
})
