import { describe, expect, test } from 'vitest'
import { checkHost, lookupAllowed, privateDestinations, publicDestinations } from '../../../lib/outbound/addresses.ts'

const always = [
  '0.0.0.0',
  '0.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '169.254.170.2',
  '192.0.0.1',
  '192.0.2.2',
  '192.88.99.1',
  '198.51.100.7',
  '203.0.113.255',
  '198.18.0.1',
  '198.19.255.255',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'fe80::1%1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '64:ff9b:1:a9fe:a9:fe00::',
  '100::1',
  '2001::1',
  '2001:0:7f00:1::',
  '2001:db8::1',
  '3fff:fff::1',
  '2002:7f00:1::1',
  '2002:a9fe:a9fe::1',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd00:0ec2:0:0:0:0:0:0254',
  'FD00:EC2::254',
  '5f00::1',
  '4000::1',
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f000001',
  '[::1]',
  '10.0.0.1 ',
]
const inPrivateNetworks = [
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  'fc00::1',
  'fd12:3456::1',
]
const everywhere = [
  '1.1.1.1',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '140.82.112.3',
  '172.15.255.255',
  '172.32.0.1',
  '192.0.1.1',
  '192.167.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:50c0:8000::153',
  '2600:1f18::1',
]

describe('publicDestinations', () => {
  test.each([...always, ...inPrivateNetworks])('refuse %s', (address) => {
    expect(publicDestinations.allows(address)).toBe(false)
  })
  test.each(everywhere)('allow %s', (address) => {
    expect(publicDestinations.allows(address)).toBe(true)
  })
})

describe('privateDestinations', () => {
  test.each(always)('refuse %s', (address) => {
    expect(privateDestinations.allows(address)).toBe(false)
  })
  test.each([...everywhere, ...inPrivateNetworks])('allow %s', (address) => {
    expect(privateDestinations.allows(address)).toBe(true)
  })
})

describe('checkHost', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://0x7f.1/',
    'https://0x7F000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0/',
    'https://169.254.169.254/',
    'https://169.254.43518/',
    'https://①②⑦.⓪.⓪.①/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[fd00:ec2::254]/',
    'https://8.8.8.8/',
    'https://[2606:50c0:8000::153]/',
  ])('refuses %s, before any lookup', (url) => {
    expect(() => checkHost(new URL(url))).toThrow('unroutable')
  })
  test('accepts DNS names, whose addresses are checked when they are known', () => {
    for (const host of ['example.com', 'localhost', '127.0.0.1.nip.io', '1e100.net', 'metadata.google.internal'])
      expect(() => checkHost(new URL(`https://${host}/`))).not.toThrow()
  })
})

describe('lookupAllowed', () => {
  const found = [
    { address: '2600:1f18::1', family: 6 },
    { address: '140.82.112.3', family: 4 },
  ]
  const lookup = lookupAllowed({ ...publicDestinations, resolve: async () => found })
  /** Returns what the callback of a lookup gets. */
  const answerFor = (all: boolean) =>
    new Promise<unknown[]>((resolve) => lookup('example.com', { all }, (...answer) => resolve(answer)))

  test('returns all addresses, or the first one, as the connection asks', async () => {
    expect(await answerFor(true)).toEqual([null, found])
    expect(await answerFor(false)).toEqual([null, '2600:1f18::1', 6])
  })
})
