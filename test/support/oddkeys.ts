/** Makes keys, certificates and requests that no honest program makes, and finds out whether they break the TLS of this process. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:tls'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { SERVER_AUTH, testAuthority } from '../lib/clusters/authority.ts'
import { listening } from './listening.ts'

const tlv = (tag: number, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}
function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.from([length])
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 + bytes.length]), bytes])
}
const sequence = (...contents: Buffer[]) => tlv(0x30, ...contents)
const integer = (bytes: Buffer) => tlv(2, (bytes[0] ?? 255) < 128 ? Buffer.alloc(0) : Buffer.from([0]), bytes)
const oid = (hex: string) => tlv(6, Buffer.from(hex, 'hex'))
const bits = (...contents: Buffer[]) => tlv(3, Buffer.from([0]), ...contents)
const ones = (length: number) => Buffer.alloc(length, 255)
const pem = (type: string, der: Buffer) =>
  `-----BEGIN ${type}-----\n${der.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END ${type}-----\n`

const RSA = sequence(oid('2a864886f70d010101'), tlv(5))
const EC = oid('2a8648ce3d0201')
const P256 = oid('2a8648ce3d030107')
const rsaInfo = (n: Buffer, e: Buffer) => sequence(RSA, bits(sequence(integer(n), integer(e))))
const infoOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' })

/** The modulus and the exponent of RSA keys, the last two of sizes at which OpenSSL fails. */
const numbers: [string, Buffer, Buffer][] = [
  ['an exponent of 9 bytes', ones(256), ones(9)],
  ['an exponent of 300 bytes', ones(256), ones(300)],
  ['no exponent', ones(256), Buffer.alloc(0)],
  ['the exponent 0', ones(256), Buffer.alloc(3)],
  ['an even modulus', Buffer.alloc(256, 254), Buffer.from([3])],
  ['the modulus 0', Buffer.alloc(256), Buffer.from([3])],
  ['many leading zeros', Buffer.alloc(6000, 0), Buffer.from([3])],
  ['a modulus of 16,000 bits', ones(2000), Buffer.from([3])],
  ['a modulus of 4,096 bytes', ones(4096), Buffer.from([3])],
  ['a modulus of 20,000 bytes', ones(20_000), Buffer.from([3])],
  ['an exponent of 2,049 bytes', ones(256), ones(2049)],
  ['an exponent of 4,000 bytes', ones(256), ones(4000)],
]

const publicInfos: [string, Buffer][] = [
  ...numbers.map(([what, n, e]): [string, Buffer] => [`RSA with ${what}`, rsaInfo(n, e)]),
  ['RSA without numbers', sequence(RSA, bits(ones(10)))],
  ['RSA in two sequences', sequence(RSA, bits(sequence(), sequence()))],
  ['a point off its curve', sequence(sequence(EC, P256), bits(Buffer.from([4]), ones(64)))],
  ['a point of no bytes', sequence(sequence(EC, P256), bits())],
  ['a point of 5,000 bytes', sequence(sequence(EC, P256), bits(Buffer.from([4]), ones(5000)))],
  ['no curve', sequence(sequence(EC), bits(Buffer.from([4]), ones(64)))],
  ['an unknown curve', sequence(sequence(EC, oid('2a8648ce3d03017f')), bits(ones(65)))],
  ['an unknown algorithm', sequence(sequence(oid('2a03')), bits(ones(64)))],
  ['Ed25519 of 5,000 bytes', sequence(sequence(oid('2b6570')), bits(ones(5000)))],
  ['X25519', infoOf(generateKeyPairSync('x25519').publicKey)],
  ['nothing', sequence()],
]

const base64url = (bytes: Buffer) => bytes.toString('base64url')
const point = { x: base64url(ones(32)), y: base64url(ones(32)) }

export const oddJwks: [string, JsonObject][] = [
  ...numbers.map(([what, n, e]): [string, JsonObject] => [
    `RSA with ${what}`,
    { kty: 'RSA', n: base64url(n), e: base64url(e) },
  ]),
  ...['P-256', 'P-384', 'P-521'].flatMap((crv) =>
    [0, 1, 31, 66, 67, 5000].map((length): [string, JsonObject] => [
      `${crv} with ${length} bytes`,
      { kty: 'EC', crv, x: base64url(ones(length)), y: base64url(ones(length)) },
    ]),
  ),
  ['a point off its curve', { kty: 'EC', crv: 'P-256', ...point }],
  ['EC without a curve', { kty: 'EC', ...point }],
  ['EC on a curve of OKP', { kty: 'EC', crv: 'Ed25519', ...point }],
  ...[0, 31, 33, 57, 5000].map((length): [string, JsonObject] => [
    `Ed25519 with ${length} bytes`,
    { kty: 'OKP', crv: 'Ed25519', x: base64url(ones(length)) },
  ]),
  ['OKP on a curve of EC', { kty: 'OKP', crv: 'P-256', ...point }],
  ['a symmetric key', { kty: 'oct' }],
  ['a chain of 100 KB', { kty: 'RSA', n: base64url(ones(4096)), e: 'AQAB', x5c: ['A'.repeat(100_000)] }],
]

const time = (text: string) => tlv(0x17, Buffer.from(text))
const nameOf = (text: string) => sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(text)))))
const ECDSA = sequence(oid('2a8648ce3d040302'))
const SHA256_RSA = sequence(oid('2a864886f70d01010b'), tlv(5))
const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const signed = (content: Buffer, algorithm = ECDSA) =>
  sequence(content, algorithm, bits(sign('sha256', content, signer)))

const certificate = (info: Buffer, extensions: Buffer[] = []) =>
  signed(
    sequence(
      tlv(0xa0, tlv(2, Buffer.from([2]))),
      integer(Buffer.from([1])),
      ECDSA,
      nameOf('ci'),
      sequence(time('200101000000Z'), time('490101000000Z')),
      nameOf('ci'),
      info,
      ...(extensions.length > 0 ? [tlv(0xa3, sequence(...extensions))] : []),
    ),
  )

const ownInfo = infoOf(createPublicKey(signer))
const malformed = ['551d25', '551d13', '551d11', '551d0f', '551d23', '2b06010505070101'].map((id): [string, Buffer] => [
  `a malformed extension ${id}`,
  certificate(ownInfo, [sequence(oid(id), tlv(4, ones(10)))]),
])

/** Each is for the user ci. Those with a malformed extension are for `ownKey`. */
export const oddCertificates: [string, string][] = [
  ...publicInfos.map(([what, info]): [string, Buffer] => [what, certificate(info)]),
  ...malformed,
  ['a tail', Buffer.concat([certificate(ownInfo), ones(10)])],
  ['no fields', sequence(sequence(), ECDSA, bits())],
  ['no end', certificate(ownInfo).subarray(0, 100)],
].map(([what, der]): [string, string] => [what as string, pem('CERTIFICATE', der as Buffer)])

export const ownKey: string = signer.export({ format: 'pem', type: 'pkcs8' }).toString()

const algorithmOf = (what: string) => (what.startsWith('RSA') ? SHA256_RSA : ECDSA)
export const oddRequests: [string, string][] = publicInfos.map(([what, info]) => [
  what,
  pem(
    'CERTIFICATE REQUEST',
    signed(sequence(integer(Buffer.from([0])), nameOf('ci'), info, tlv(0xa0)), algorithmOf(what)),
  ),
])

const encrypted = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' } as const
export const oddPrivateKeys: [string, string][] = [
  ...numbers.flatMap(([what, n, e]): [string, string][] => {
    const parts = [integer(Buffer.from([0])), integer(n), integer(e), ...Array.from({ length: 6 }, () => integer(n))]
    return [
      [`RSA with ${what}`, pem('RSA PRIVATE KEY', sequence(...parts))],
      [
        `PKCS#8 of RSA with ${what}`,
        pem('PRIVATE KEY', sequence(integer(Buffer.from([0])), RSA, tlv(4, sequence(...parts)))),
      ],
    ]
  }),
  ['encrypted', createPrivateKey(ownKey).export(encrypted).toString()],
  ['a curve without a number', pem('EC PRIVATE KEY', sequence(integer(Buffer.from([1]))))],
  ['nothing', pem('PRIVATE KEY', sequence())],
  ['no key', 'hello'],
]

/** A TLS connection within this process. */
export interface Wire {
  /** Sends a text at once, and reports whether it comes back. Opens the connection again if not. */
  carries(): Promise<boolean>
  close(): void
}

export async function openWire(): Promise<Wire> {
  const authority = await testAuthority()
  const pair = await authority.pair({ names: ['wire.test'], usages: [SERVER_AUTH] })
  const server = createServer({ cert: pair.certificate, key: pair.key }, (socket) => {
    socket.on('error', () => undefined).on('data', (data) => socket.write(data))
  })
  const { port } = await listening(server)
  const open = async () => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate, servername: 'wire.test' })
    await once(socket, 'secureConnect')
    return socket
  }
  const echoed = () =>
    new Promise<boolean>((resolve) => {
      const [carried, ended] = [() => resolve(true), () => resolve(false)]
      socket.removeAllListeners().once('data', carried).once('error', ended).once('close', ended).write('x')
    })
  let socket = await open()
  await echoed()
  return {
    async carries() {
      const isWhole = await echoed()
      if (!isWhole) socket = await open()
      return isWhole
    },
    close() {
      socket.destroy()
      server.close()
    },
  }
}
