/** Feeds keys of strangers to every reader of such keys, beside a TLS connection of the same process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAuthorities } from '../../clients/action/src/authorities.ts'
import { parseRequest } from '../../infra/local/host/certificates.ts'
import { checkIssuedCertificate } from '../../lib/clusters/certificates/issued.ts'
import { parseCredentials } from '../../lib/clusters/cluster/credentials.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { normalizeKeySet } from '../../lib/federation/jwks.ts'
import {
  oddCertificates,
  oddJwks,
  oddPrivateKeys,
  oddRequests,
  openWire,
  ownKey,
  type Wire,
} from '../support/oddkeys.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire()
})
afterAll(() => {
  wire?.close()
})

const now = new Date()

const secretOf = (fields: Record<string, string>) =>
  parseCredentials(JSON.stringify(fields), { cluster: 'p-shop/dev', fallbackServer: 'https://dev.example.com' })

/** Most readers refuse a key with an error. */
const tried = (read: (text: string) => unknown) => async (text: string) => {
  await Promise.try(read, text).catch(() => undefined)
  return wire.carries()
}

const issued = (pem: string) => checkIssuedCertificate(pem, { key: ownKey, user: 'ci', groups: [], now })
const readKeySet = (key: JsonObject) => {
  const read = normalizeKeySet({ keys: [key] })
  const isWhole = wire.carries()
  expect(read).toEqual([])
  return isWhole
}
const [[, anyCertificate] = ['', '']] = oddCertificates

const readers: [string, [string, unknown][], (odd: never) => Promise<boolean | undefined>][] = [
  ['key set', oddJwks, readKeySet],
  ['signed certificate', oddCertificates, tried(issued)],
  [
    'certificate of a cluster',
    oddCertificates,
    tried((pem) => secretOf({ 'client-certificate': pem, 'client-key': ownKey })),
  ],
  ['authority of a cluster', oddCertificates, tried((pem) => secretOf({ 'certificate-authority': pem }))],
  [
    'private key of a cluster',
    oddPrivateKeys,
    tried((pem) => secretOf({ 'client-certificate': anyCertificate, 'client-key': pem })),
  ],
  ['authority of a job', oddCertificates, tried((pem) => readAuthorities('certificate-authority', pem))],
  ['certificate request', oddRequests, tried(parseRequest)],
]

describe.each(readers)('no odd key in a %s', (_, odd, read) => {
  // threat: exchange-19
  test('leaves an error behind that ends a TLS connection', async () => {
    const broken: string[] = []
    for (const [what, key] of odd) {
      if (!(await read(key as never))) broken.push(what)
    }
    expect(broken).toEqual([])
  })
})
