import { describe, expect, test } from 'vitest'
import {
  checkHost,
  lookupAllowed,
  privateDestinations,
  publicDestinations,
} from '../../../../lib/engine/outbound/addresses.ts'
import cases from './vectors/addresses.cases.json' with { type: 'json' }

const always = cases.always
const inPrivateNetworks = [
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  'fc00::1',
  'fd12:3456::1',
]
const everywhere = cases.everywhere

describe('publicDestinations', () => {
  // threat: exchange-16
  test.each([...always, ...inPrivateNetworks])('refuse %s', (address) => {
    expect(publicDestinations.allows(address)).toBe(false)
  })
  test.each(everywhere)('allow %s', (address) => expect(publicDestinations.allows(address)).toBe(true))
})

describe('privateDestinations', () => {
  test.each(always)('refuse %s', (address) => expect(privateDestinations.allows(address)).toBe(false))
  test.each([...everywhere, ...inPrivateNetworks])('allow %s', (address) => {
    expect(privateDestinations.allows(address)).toBe(true)
  })
})

describe('checkHost', () => {
  // threat: exchange-16
  test.each(cases.refusesBeforeAny)('refuses %s, before any lookup', (url) =>
    expect(() => checkHost(new URL(url))).toThrow('unroutable'),
  )
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
