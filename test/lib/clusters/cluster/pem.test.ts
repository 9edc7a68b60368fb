import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hasOtherBlocks, parsePrivateKey } from '../../../../lib/clusters/cluster/pem.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1') => key.export({ format: 'pem', type }).toString()
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'

describe('parsePrivateKey', () => {
  test.each([
    ['PKCS#8', ec, pem(ec, 'pkcs8')],
    ['PKCS#8 with RSA', rsa, pem(rsa, 'pkcs8')],
    ['PKCS#1', rsa, pem(rsa, 'pkcs1')],
    ['SEC1, after its parameters', ec, parameters + pem(ec, 'sec1')],
    [
      'PKCS#8, after a block that ends as another',
      ec,
      pem(rsa, 'pkcs1').replace('END RSA ', 'END ') + pem(ec, 'pkcs8'),
    ],
    ['Windows line breaks', ec, pem(ec, 'pkcs8').replaceAll('\n', '\r\n')],
  ])('reads %s', (_, key, text) => expect(parsePrivateKey(text)?.equals(key)).toBe(true))

  test('refuses an encrypted key', () => {
    const text = ec.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()
    expect(parsePrivateKey(text)).toBeUndefined()
  })
})

describe('hasOtherBlocks', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n'

  test.each([
    pem(ec, 'pkcs8'),
    pem(rsa, 'pkcs1'),
    parameters,
    '-----BEGIN TRUSTED CERTIFICATE-----',
    '-----BEGIN CERTIFICATE REQUEST-----',
    '----- begin private key -----',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----',
    '----- BEGIN SOMETHING',
  ])('finds %j', (text) => {
    expect(hasOtherBlocks(`${certificate}${text}`)).toBe(true)
    expect(hasOtherBlocks(`${text}${certificate}`)).toBe(true)
  })

  test('finds none in certificates and the text between them', () => {
    expect(hasOtherBlocks(`# Subject: CN=begin\n${certificate}\nissuer=x\n${certificate}`)).toBe(false)
  })
})
