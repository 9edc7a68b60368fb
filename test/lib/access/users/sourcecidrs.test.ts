import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkCIDR, containsCIDRs, isWithinCIDRs } from '../../../../lib/access/users/sourcecidrs.ts'
import { runs } from '../../../support/effort.ts'
import cases from './vectors/sourcecidrs.cases.json' with { type: 'json' }

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
  // threat: use-11
  test('agrees with BlockList of node:net', () => {
    fc.assert(
      fc.property(address, ranges, (one, list) => {
        expect(isWithinCIDRs(one, list)).toBe(judge(list)(one))
      }),
      runs(2000),
    )
  })

  test.each(cases.within as [string, string[], boolean][])('of %s and %j is %s', (one, list, expected) =>
    expect(isWithinCIDRs(one, list)).toBe(expected),
  )

  // threat: use-11
  test.each(cases.noAddresses)('is false for %j, which is not an IP address', (one) =>
    expect(isWithinCIDRs(one, ['0.0.0.0/0', '::/0'])).toBe(false),
  )

  test('is false for an empty list, and for entries that are not ranges', () => {
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
      runs(1000),
    )
  })

  test.each(cases.subsets as [string[], string[], boolean][])('of %j and %j is %s', (outer, inner, expected) =>
    expect(containsCIDRs(outer, inner)).toBe(expected),
  )
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
  test.each(cases.accepted)('accepts %s', (text) => expect(checkCIDR(text)).toBeUndefined())

  test.each(cases.corrected as [string, string][])('says what %s has to be', (text, expected) => {
    expect([checkCIDR(text), checkCIDR(expected)]).toEqual([`must be ${expected}`, undefined])
  })

  test.each([...cases.noCIDRs, 'a'.repeat(100_000)])('rejects %s', (text) => {
    expect(checkCIDR(text)).toBe('must be an IP address or a CIDR, such as 203.0.113.7 or 10.0.0.0/8')
  })

  test('names a spelling that it accepts, with the same addresses', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(address4, fc.nat(32)), fc.tuple(address6, fc.nat(128))), ([text, prefix]) => {
        const one = canonical(`${text}/${prefix}`)
        expect([checkCIDR(one), isWithinCIDRs(text, [one])]).toEqual([undefined, true])
        expect(containsCIDRs([one], [`${text}/${prefix}`])).toBe(true)
      }),
    )
  })
})
