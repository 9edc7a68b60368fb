/** Checks IP addresses and CIDRs as the server does for `spec.sourceCIDRs`: each has one spelling, without host bits. */

interface Address {
  bits: 32 | 128
  number: bigint
}

const MOST_SOURCES = 32

/** Returns what is wrong with the sources of a key, or undefined. */
export function sourcesProblem(sources: readonly string[]): string | undefined {
  const text = sources.map(addressProblem).find((problem) => problem !== undefined)
  return text ?? (sources.length > MOST_SOURCES ? `At most ${MOST_SOURCES} addresses are possible.` : undefined)
}

/** Returns what is wrong with an address or a CIDR, or undefined. */
export function addressProblem(text: string): string | undefined {
  const canonical = canonicalAddress(text)
  if (canonical === undefined) return `“${text}” is not an IP address or a CIDR, such as 203.0.113.7 or 10.0.0.0/8.`
  return canonical === text ? undefined : `Write ${canonical} instead of ${text}.`
}

/** Returns the one spelling of an address or a CIDR, or undefined if the text is neither. */
function canonicalAddress(text: string): string | undefined {
  const [, name = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = name.includes(':') ? readIPv6(name) : readIPv4(name)
  const prefix = Number(length ?? address?.bits)
  if (address === undefined || prefix > address.bits) return undefined
  // An IPv4-mapped network is written as the IPv4 network.
  const isMapped = address.bits === 128 && prefix >= 96 && address.number >> 32n === 0xffffn
  const [bits, kept] = isMapped ? [32, prefix - 96] : [address.bits, prefix]
  const host = BigInt(bits - kept)
  const first = (BigInt.asUintN(bits, address.number) >> host) << host
  return written(bits, first) + (length === undefined ? '' : `/${kept}`)
}

function readIPv4(text: string): Address | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return { bits: 32, number: parts.reduce((number, part) => number * 256n + BigInt(part), 0n) }
}

/** Reads an IPv6 address as URLs have it, which are written as RFC 5952 says. */
function readIPv6(text: string): Address | undefined {
  const [, ipv4] = /:(\d[\d.]*)$/.exec(text) ?? []
  if (!/^[\da-f:.]+$/i.test(text) || (ipv4?.includes('.') && readIPv4(ipv4) === undefined)) return undefined
  if (!URL.canParse(`http://[${text}]`)) return undefined
  const [before = '', after] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const groups = (half = ''): string[] => (half === '' ? [] : half.split(':'))
  const missing = 8 - groups(before).length - groups(after).length
  const all = [...groups(before), ...Array<string>(missing).fill('0'), ...groups(after)]
  return { bits: 128, number: all.reduce((number, group) => number * 65536n + BigInt(`0x${group}`), 0n) }
}

function written(bits: number, number: bigint): string {
  const size = bits === 32 ? 8n : 16n
  const parts = Array.from({ length: bits / Number(size) }, (_, at) =>
    Number(BigInt.asUintN(Number(size), number >> (BigInt(bits) - size * BigInt(at + 1)))),
  )
  if (bits === 32) return parts.join('.')
  return new URL(`http://[${parts.map((part) => part.toString(16)).join(':')}]`).hostname.slice(1, -1)
}
