import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signDigest, verifyDigest } from '../../../../infra/local/aws/prehashed.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const sha256 = (message: Uint8Array): Buffer => createHash('sha256').update(message).digest()

describe('signDigest', () => {
  test('signs what OpenSSL verifies over the message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (message) => {
        expect(verify('sha256', message, publicKey, signDigest(privateKey, sha256(message)))).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('verifyDigest', () => {
  test('accepts what OpenSSL signed, and nothing near it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(), (message, seed) => {
        const signature = sign('sha256', message, privateKey)
        expect(verifyDigest(publicKey, sha256(message), signature)).toBe(true)
        const damaged = Buffer.from(signature)
        const position = seed % damaged.length
        damaged.writeUInt8(damaged.readUInt8(position) ^ 1, position)
        expect(verifyDigest(publicKey, sha256(message), damaged)).toBe(false)
        expect(verifyDigest(publicKey, sha256(Buffer.from([...message, 0])), signature)).toBe(false)
      }),
      { numRuns: 6 },
    )
  })

  test('refuses the key on the other side of the curve', () => {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
    const mirrored = p - BigInt(`0x${Buffer.from(y, 'base64url').toString('hex')}`)
    const other = createPublicKey({
      format: 'jwk',
      key: {
        kty: 'EC',
        crv: 'P-256',
        x,
        y: Buffer.from(mirrored.toString(16).padStart(64, '0'), 'hex').toString('base64url'),
      },
    })
    const digest = sha256(Buffer.from('message'))
    expect(verifyDigest(other, digest, signDigest(privateKey, digest))).toBe(false)
  })

  test('refuses a signature that is not in its shortest form', () => {
    const digest = sha256(Buffer.from('message'))
    const der = signDigest(privateKey, digest)
    const padded = Buffer.concat([
      Buffer.from([0x30, der.readUInt8(1) + 1, 0x02, der.readUInt8(3) + 1, 0]),
      der.subarray(4),
    ])
    expect(verifyDigest(publicKey, digest, padded)).toBe(false)
    expect(verifyDigest(publicKey, digest, Buffer.concat([der, Buffer.from([0])]))).toBe(false)
  })

  test.each(['', '30', '3006020100020100', '3006020101020100', '30ff', '3080020101020101', '300602010102010100'])(
    '%s is no signature',
    (hex) => {
      expect(verifyDigest(publicKey, Buffer.alloc(32), Buffer.from(hex, 'hex'))).toBe(false)
    },
  )
})
