/**
 * Decides to which addresses a request may go when its URL comes from a user. A host must be a DNS name. All of its
 * addresses must be allowed, and the request dials exactly the addresses that were checked.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { OutboundError } from './failure.ts'

export interface Destinations {
  /** Reports whether requests may go to this IP address. */
  allows(address: string): boolean
  /** Returns all addresses of a DNS name. */
  resolve(host: string): Promise<readonly LookupAddress[]>
}

/** IPv4 ranges in which no public host is, those of documentation and 6to4 among them. Source: IANA, RFC 6890. */
const refused4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** RFC 1918. */
const private4: readonly [string, number][] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
]

/** Global unicast. Loopback, link-local, multicast, mapped and translated addresses (64:ff9b::/96) are outside. */
const global6: readonly [string, number][] = [['2000::', 3]]

/** Ranges of `global6` without public hosts: protocol assignments with Teredo, documentation, and 6to4. */
const refused6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** RFC 4193. */
const private6: readonly [string, number][] = [['fc00::', 7]]

/** Metadata and credentials of EC2 and EKS, inside `private6`. */
const metadata6: readonly [string, number][] = [['fd00:ec2::', 32]]

function listOf(family: 'ipv4' | 'ipv6', ...ranges: readonly (readonly [string, number][])[]): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of ranges.flat()) list.addSubnet(net, prefix, family)
  return list
}

function createDestinations(isPrivateAllowed: boolean): Destinations {
  const never4 = isPrivateAllowed ? listOf('ipv4', refused4) : listOf('ipv4', refused4, private4)
  const only6 = isPrivateAllowed ? listOf('ipv6', global6, private6) : listOf('ipv6', global6)
  const never6 = listOf('ipv6', refused6, metadata6)
  return {
    allows(address) {
      const family = isIP(address)
      if (family === 4) return !never4.check(address, 'ipv4')
      return family === 6 && only6.check(address, 'ipv6') && !never6.check(address, 'ipv6')
    },
    resolve: (host) => lookup(host, { all: true }),
  }
}

/** Public addresses only. */
export const publicDestinations = createDestinations(false)

/** Also private networks (RFC 1918, RFC 4193), but never loopback, link-local or metadata addresses. */
export const privateDestinations = createDestinations(true)

const refusedAddress = () => new OutboundError('unroutable', new Error('requests to this address are not allowed'))

/**
 * Throws unless the host is a DNS name, because Node does not look up addresses. A URL has normal forms of all spellings
 * of an address (`127.1`, `0x7f000001`).
 */
export function checkHost({ hostname }: URL): void {
  if (hostname.startsWith('[') || isIP(hostname) !== 0) throw refusedAddress()
}

/** Returns the lookup of a connection: it fails if one address of the host is refused. */
export const lookupAllowed =
  ({ allows, resolve }: Destinations): LookupFunction =>
  (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (!first || !addresses.every(({ address }) => allows(address))) return callback(refusedAddress(), '')
        if (all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, ''),
    )
  }
