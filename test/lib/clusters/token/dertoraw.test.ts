import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { derToRaw } from '../../../../lib/clusters/token/dertoraw.ts'
import cases from './vectors/dertoraw.cases.json' with { type: 'json' }

/** DER as X.690 section 8.3 writes it: shortest form, a zero byte before a high first bit. */
function encode(r: bigint, s: bigint): Uint8Array {
  const integer = (value: bigint): number[] => {
    const hex = value.toString(16)
    const bytes = [...Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')]
    const content = (bytes[0] ?? 0) >= 0x80 ? [0, ...bytes] : bytes
    return [2, content.length, ...content]
  }
  const content = [...integer(r), ...integer(s)]
  return Uint8Array.from([0x30, content.length, ...content])
}

const toBigInt = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

describe('derToRaw', () => {
  test('converts 1,000 OpenSSL signatures that then verify', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    let good = 0
    for (let i = 0; i < 1000; i++) {
      const message = createHash('sha256').update(String(i)).digest()
      const raw = derToRaw(sign('sha256', message, privateKey))
      if (verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw)) good++
    }
    expect(good).toBe(1000)
  })

  test('converts every pair of positive integers of at most 32 bytes, including short ones', () => {
    const small = fc.bigInt({ min: 1n, max: 2n ** 20n })
    const any = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })
    fc.assert(
      fc.property(fc.oneof(small, any), fc.oneof(small, any), (r, s) => {
        const raw = derToRaw(encode(r, s))
        expect(raw.length).toBe(64)
        expect(toBigInt(raw.subarray(0, 32))).toBe(r)
        expect(toBigInt(raw.subarray(32))).toBe(s)
      }),
    )
  })

  test('accepts only the DER encoding of its result and throws a TypeError otherwise', () => {
    const mutated = fc
      .tuple(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), fc.nat(80), fc.nat(255), fc.nat(3))
      .map(([value, at, byte, cut]) => {
        const der = encode(value, value)
        if (at < der.length) der[at] = byte
        return der.subarray(0, der.length - cut)
      })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), mutated), (bytes) => {
        let raw: Uint8Array
        try {
          raw = derToRaw(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          return
        }
        expect(encode(toBigInt(raw.subarray(0, 32)), toBigInt(raw.subarray(32)))).toEqual(Uint8Array.from(bytes))
      }),
      { numRuns: 2000 },
    )
  })

  test.each(cases.refused as [string, number[]][])('refuses %s', (_, bytes) =>
    expect(() => derToRaw(Uint8Array.from(bytes))).toThrow(TypeError),
  )
})
