import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  issueClient,
  type KeyPair,
  keepAuthority,
  makeAuthority,
  validFor,
} from '../../../../infra/local/host/certificates.ts'

test('no certificate outlives its authority', async () => {
  const now = Date.now()
  const brief = await makeAuthority('brief', validFor(1, now))
  const { certificate } = await issueClient(brief, { commonName: 'alice' }, validFor(2, now))
  expect(new X509Certificate(certificate).validTo).toBe(new X509Certificate(brief.certificate).validTo)
  expect(createPrivateKey(brief.key).asymmetricKeyType).toBe('ec')
})

const DAY = 86_400_000

test.each([
  [0, undefined],
  [-60_000, undefined],
  [
    -DAY,
    /^The certificate authority "test" is valid only from \S+ on, and the clock says \S+\. A new one replaces it, /,
  ],
  [9.5 * 365 * DAY, /^The certificate authority "test" expires on \S+\. A new one replaces it, /],
])('an authority that was made %i ms before is kept, or it is said why not', async (passed, sentence) => {
  const made = Date.now()
  const now = made + passed
  const said: string[] = []
  const keep = (one?: KeyPair) => keepAuthority(one, 'test', now, (text) => said.push(text))
  const kept = await keepAuthority(undefined, 'test', made, () => {})
  const authority = await keep(kept)
  expect(said).toEqual(sentence ? [expect.stringMatching(sentence)] : [])
  expect(authority === kept).toBe(sentence === undefined)
  // The new one is valid, and is kept.
  const { validFrom } = new X509Certificate(authority.certificate)
  expect(Date.parse(validFrom)).toBeLessThanOrEqual(now)
  expect(await keep(authority)).toBe(authority)
})
