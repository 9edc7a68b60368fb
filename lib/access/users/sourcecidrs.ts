/**
 * Compares IP addresses with the ranges from which a key may be used (`spec.sourceCIDRs`). A range is an address or a
 * CIDR, IPv4 or IPv6. Every request with a limited key is compared, so this does not use BlockList of node:net, which
 * takes 400 µs to build for 64 ranges and ignores host bits. A limited key, also one of system:masters, may not leave behind
 * access from other addresses: with another key, with the value of one, or with an object that makes keys.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { onlyEnds } from './ends.ts'
import type { KeySpec } from './identity.ts'
import type { UserInfo } from './user.ts'

/** All addresses from `first` to `last`, as numbers of 32 or 128 bits. */
interface Range {
  bits: 32 | 128
  first: bigint
  last: bigint
}

/**
 * Reports whether the address is in one of the ranges. An IPv4-mapped IPv6 address counts as its IPv4 address. Anything
 * that is not an IP address is in no range, and no address is in an empty list.
 */
export function isWithinCIDRs(address: string, list: readonly string[]): boolean {
  const one = parseAddress(address)
  return one !== undefined && list.some((text) => containsRange(parseRange(text), one))
}

/** Reports whether every address of the ranges `inner` is in one of the ranges `outer`. */
export function containsCIDRs(outer: readonly string[], inner: readonly string[]): boolean {
  const known = outer.map(parseRange).filter((range) => range !== undefined)
  const joined = [...join(known, 32), ...join(known, 128)]
  return inner.map(parseRange).every((range) => range !== undefined && joined.some((one) => containsRange(one, range)))
}

/** Returns what is wrong with a range that a client wrote, or undefined. Each range has one valid spelling. */
export function checkCIDR(text: string): string | undefined {
  const canonical = formatRange(text)
  if (canonical === undefined) return 'must be an IP address or a CIDR, such as 203.0.113.7 or 10.0.0.0/8'
  return canonical === text ? undefined : `must be ${canonical}`
}

/** Returns the /64 network of an IPv6 address, or an IPv4 address, in one spelling. Undefined if the text is not an address. */
export function networkOf(address: string): string | undefined {
  const one = parseAddress(address)
  return one && formatAddress(prefixed(one, one.bits === 32 ? 32 : 64))
}

const containsRange = (outer: Range | undefined, inner: Range): boolean =>
  outer?.bits === inner.bits && outer.first <= inner.first && inner.last <= outer.last

/** Returns the ranges of one family as the fewest that have the same addresses. */
function join(ranges: readonly Range[], bits: Range['bits']): Range[] {
  const joined: Range[] = []
  const sorted = ranges.filter((range) => range.bits === bits).sort((a, b) => (a.first < b.first ? -1 : 1))
  for (const range of sorted) {
    const before = joined.at(-1)
    if (before === undefined || range.first > before.last + 1n) joined.push({ ...range })
    else if (range.last > before.last) before.last = range.last
  }
  return joined
}

/** Splits `ADDRESS/BITS`. Prefixes have no leading zero, so that each has one spelling. */
const CIDR = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/

function parseRange(text: string): Range | undefined {
  const parsed = parse(text)
  return parsed && prefixed(parsed.address, parsed.prefix)
}

/** Returns the one spelling of a range, without host bits, or undefined if the text is not a range. */
function formatRange(text: string): string | undefined {
  const parsed = parse(text)
  if (parsed === undefined) return undefined
  const { address, prefix, isPrefixed } = parsed
  return formatAddress(prefixed(address, prefix)) + (isPrefixed ? `/${prefix}` : '')
}

/** Reads an address, or a network and the length of its prefix. An IPv4-mapped network becomes the IPv4 network. */
function parse(text: string): { address: Range; prefix: number; isPrefixed: boolean } | undefined {
  const [, name = '', length] = CIDR.exec(text) ?? []
  const address = parseNumber(name)
  if (address === undefined) return undefined
  const prefix = Number(length ?? address.bits)
  if (prefix > address.bits) return undefined
  const isPrefixed = length !== undefined
  const mapped = prefix >= 96 ? unmapped(address) : address
  return { address: mapped, prefix: mapped === address ? prefix : prefix - 96, isPrefixed }
}

/** Returns the range of all addresses that begin with the same `prefix` bits. */
function prefixed({ bits, first }: Range, prefix: number): Range {
  const host = (1n << BigInt(bits - prefix)) - 1n
  return { bits, first: first - (first & host), last: first | host }
}

function parseAddress(text: string): Range | undefined {
  const one = parseNumber(text)
  return one && unmapped(one)
}

const MAPPED = 0xffffn
const IPV4 = 0xffffffffn

/** Returns the IPv4 address of an IPv4-mapped address (RFC 4291 section 2.5.5.2), and other addresses as they are. */
const unmapped = (one: Range): Range =>
  one.bits === 128 && one.first >> 32n === MAPPED ? { bits: 32, first: one.first & IPV4, last: one.first & IPV4 } : one

/** Reads an address. The functions of node:net refuse leading zeros in IPv4 addresses, but accept zones. */
function parseNumber(text: string): Range | undefined {
  if (isIPv4(text)) return single(32, number(text.split('.').map(Number), 8n))
  return isIPv6(text) && !text.includes('%') ? single(128, number(groupsOf(text), 16n)) : undefined
}

const single = (bits: Range['bits'], first: bigint): Range => ({ bits, first, last: first })

const number = (parts: readonly number[], bits: bigint): bigint =>
  parts.reduce((value, part) => (value << bits) | BigInt(part), 0n)

/** Returns the eight groups of a valid IPv6 address. */
function groupsOf(text: string): number[] {
  const [before = [], after] = text.split('::').map((half) => (half === '' ? [] : half.split(':').flatMap(groupOf)))
  if (after === undefined) return before
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

/** Returns the number of a group, or the two of an embedded IPv4 address. */
function groupOf(text: string): number[] {
  if (!text.includes('.')) return [Number.parseInt(text, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** Returns the one spelling of the first address of a range. A URL has that of RFC 5952 for IPv6. */
function formatAddress({ bits, first }: Range): string {
  if (bits === 32) return partsOf(first, 4, 8n).join('.')
  const groups = partsOf(first, 8, 16n).map((group) => group.toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Returns the number as `count` parts of `bits` bits, the highest first. */
const partsOf = (value: bigint, count: number, bits: bigint): number[] =>
  Array.from({ length: count }, (_, index) =>
    Number(BigInt.asUintN(Number(bits), value >> (bits * BigInt(count - 1 - index)))),
  )

const limited = 'the access key used is limited to source addresses and may not'

/** Returns why the user may not create this key (403), or undefined. */
export const sourcesForbidCreation = (user: UserInfo, spec: KeySpec): string | undefined =>
  isWithinSources(user, spec)
    ? undefined
    : `spec.sourceCIDRs: ${limited} create one that can be used from other addresses`

/**
 * Returns why the user may not change this key to `next` (403), or undefined. All addresses of the key must be among the
 * user's, before and after. The user may still disable any key.
 */
export function sourcesForbidChange(
  user: UserInfo,
  old: KeySpec,
  next: KeySpec,
  { isRotated, noun = 'access key' }: { isRotated: boolean; noun?: string | undefined },
): string | undefined {
  const isContained = isWithinSources(user, old) && isWithinSources(user, next)
  if (isContained || (!isRotated && onlyEnds(old, next))) return undefined
  return `${limited} change ${noun === 'access key' ? 'an' : 'a'} ${noun} that can be used from other addresses`
}

/** Returns why the user may not `act` on an object that makes keys without `spec.sourceCIDRs` (403), or undefined. */
export const unlimitedReason = ({ sourceCIDRs }: UserInfo, act: string): string | undefined =>
  sourceCIDRs === undefined ? undefined : `${limited} ${act}, whose keys could be used from other addresses`

/** Returns the warnings about a credential for a cluster, which does not tell from where it is used. */
export const unlimitedCredential = ({ sourceCIDRs }: UserInfo, credential: string): string[] =>
  sourceCIDRs === undefined ? [] : [`the ${credential} is not limited to spec.sourceCIDRs`]

/** Reports whether a change lets the key be used from addresses that it could not be used from before. */
export const widensSources = (old: KeySpec, next: KeySpec): boolean => !contains(old.sourceCIDRs, next.sourceCIDRs)

const isWithinSources = (user: UserInfo, { sourceCIDRs }: KeySpec): boolean => contains(user.sourceCIDRs, sourceCIDRs)

/** An absent or empty list does not limit a key. */
const contains = (outer: readonly string[] = [], inner: readonly string[] = []): boolean =>
  outer.length === 0 || (inner.length > 0 && containsCIDRs(outer, inner))
