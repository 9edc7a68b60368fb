import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { approval, CSRS, useVirtualCluster } from '../clustercalls.ts'

const { asManager, call, clock, cluster, create, signCertificate, waitForSigning } = useVirtualCluster()

describe('a certificate', () => {
  test('is issued and accepted for authentication', async () => {
    const { name, key, code, body } = await create({ groups: ['dev', 'ops'] })
    expect(code).toBe(201)
    expect(body).toMatchObject({
      metadata: { name, labels: { by: 'test' }, uid: expect.any(String), resourceVersion: expect.any(String) },
      spec: { username: 'system:keyplane:manager', groups: ['system:authenticated'], usages: ['client auth'] },
      status: {},
    })
    const approved = await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
    expect(approved.code).toBe(200)
    const { status } = await waitForSigning(name)
    const certificate = Buffer.from(status.certificate, 'base64').toString('utf8')
    const who = await call('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      certificate: { certificate, key },
    })
    expect(who).toMatchObject({
      code: 201,
      body: { status: { userInfo: { username: 'alice', groups: ['dev', 'ops', 'system:authenticated'] } } },
    })
    expect((await asManager(`${CSRS}/${name}`, { method: 'DELETE' })).body).toMatchObject({ status: 'Success' })
    expect((await asManager(`${CSRS}/${name}`)).code).toBe(404)
  })

  test.each([
    ['the asked life, when it is short', 3600, -300, 3600],
    ['the asked life less the backdating, when it is long', 86_400, -300, 86_100],
    ['a year without one', undefined, -300, 365 * 86_400 - 300],
    ['a year when more is asked', 400 * 86_400, -300, 365 * 86_400 - 300],
    ['ten minutes, the least', 600, -300, 600],
  ])('has %s', async (_, expirationSeconds, from, to) => {
    const { certificate } = await signCertificate({
      spec: expirationSeconds === undefined ? {} : { expirationSeconds },
    })
    const parsed = new X509Certificate(certificate)
    const second = Math.floor(clock.time / 1000)
    expect(Date.parse(parsed.validFrom) / 1000).toBe(second + from)
    expect(Date.parse(parsed.validTo) / 1000).toBe(second + to)
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(parsed.ca).toBe(false)
    expect(parsed.subject).toBe('O=dev\nCN=alice')
    expect(parsed.verify(new X509Certificate(cluster().certificateAuthority).publicKey)).toBe(true)
  })

  test.each([
    [['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
    [['digital signature'], 'missing required usage for client certificate: client auth'],
  ])('is not signed for %j', async (usages, message) => {
    const { status } = await signCertificate({ spec: { usages } })
    expect(status.certificate).toBeUndefined()
    expect(status.conditions).toMatchObject([
      { type: 'Approved' },
      { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
    ])
  })

  test('is not signed for an unknown signer', async () => {
    const { name, body } = await create({ spec: { signerName: 'example.com/other' } })
    const answer = await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
    expect(answer.body.message).toBe(
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to approve requests with signerName "example.com/other"`,
    )
  })
})
