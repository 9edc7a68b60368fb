import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { issueClient, makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'

test('no certificate outlives its authority', async () => {
  const now = Date.now()
  const brief = await makeAuthority('brief', validFor(1, now))
  const { certificate } = await issueClient(brief, { commonName: 'alice' }, validFor(2, now))
  expect(new X509Certificate(certificate).validTo).toBe(new X509Certificate(brief.certificate).validTo)
  expect(createPrivateKey(brief.key).asymmetricKeyType).toBe('ec')
})
