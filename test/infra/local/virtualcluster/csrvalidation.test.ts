import 'reflect-metadata'
import { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { describe, expect, test } from 'vitest'
import { createCertificateRequest } from '../../../../lib/kubeconfig/certificates/certificaterequest.ts'
import { base64, CSRS, csr, useVirtualCluster, type Wanted } from '../clustercalls.ts'

const { asManager, create } = useVirtualCluster()

describe('a create returns 422', () => {
  const sentence = (name: string, what: string) =>
    `CertificateSigningRequest.certificates.k8s.io "${name}" is invalid: ${what}`
  const tooShort = (seconds: number) =>
    `spec.expirationSeconds: Invalid value: ${seconds}: may not specify a duration less than 600 seconds (10 minutes)`

  test.each([
    [{ expirationSeconds: 599 }, tooShort(599)],
    [{ expirationSeconds: 0 }, tooShort(0)],
    [{ expirationSeconds: -1 }, tooShort(-1)],
    [{ usages: [] }, 'spec.usages: Required value'],
    [{ usages: ['client auth', 'client auth'] }, 'spec.usages[1]: Duplicate value: "client auth"'],
    [{ signerName: '' }, 'spec.signerName: Required value'],
    [
      { signerName: 'kubernetes.io/legacy-unknown' },
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
    [
      { signerName: 'nodomain/x' },
      'spec.signerName: Invalid value: "nodomain": should be a domain with at least two segments separated by dots',
    ],
    [
      { signerName: 'a.b/c/d' },
      `spec.signerName: Invalid value: "a.b/c/d": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
    [
      { signerName: 'A.b/c' },
      /spec\.signerName: Invalid value: "A\.b": validating label "A": a lowercase RFC 1123 label/,
    ],
    [{ signerName: 'a..b/c' }, /spec\.signerName: Invalid value: "a\.\.b": validating label "": a lowercase RFC 1123/],
    [{ signerName: 'a.b/_' }, /spec\.signerName: Invalid value: "_": validating label "_": a lowercase RFC 1123 sub/],
    [
      { request: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') },
      /spec\.request: Invalid value: ".*": PEM block type must be CERTIFICATE REQUEST$/,
    ],
    [{ request: '' }, 'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST'],
    [
      { request: base64('-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n') },
      /spec\.request: Invalid value: ".*": x509: malformed certificate request$/,
    ],
  ])('for the spec %j', async (spec, what) => {
    const { name, code, body } = await create({ spec })
    expect(code).toBe(422)
    if (typeof what === 'string') expect(body.message).toBe(sentence(name, what))
    else expect(body.message).toMatch(what)
    expect(body.reason).toBe('Invalid')
  })

  test('for an unknown usage', async () => {
    const { body } = await create({ spec: { usages: ['constructor'] } })
    expect(body.message).toContain('spec.usages[0]: Unsupported value: "constructor": supported values: "any", ')
  })

  test('for a request signed by another key', async () => {
    const { request } = await createCertificateRequest('alice', [])
    const der = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1)
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    const { code, body } = await create({ spec: { request: base64(pem) } })
    expect(code).toBe(422)
    expect(body.message).toContain('x509: ')
  })

  test.each([
    ['', 'metadata.name: Required value: name or generateName is required'],
    ['..', `metadata.name: Invalid value: "..": may not be '..'`],
    ['a/b', `metadata.name: Invalid value: "a/b": may not contain '/'`],
  ])('for the name %j', async (name, what) => {
    const { code, body } = await create({ name })
    expect([code, body.message]).toEqual([422, sentence(name, what)])
  })
})

describe('a create returns 403', () => {
  const expectForbidden = async (wanted: Wanted) => {
    const { name, code, body } = await create(wanted)
    expect([code, body.message]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    ])
  }

  test('for the group system:masters, alone or among others', async () => {
    await expectForbidden({ groups: ['system:masters'] })
    await expectForbidden({ groups: ['dev', 'system:masters', 'ops'] })
  })

  test('for the group system:masters hidden as a second value of one RDN', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const name = new Name([{ O: ['a', 'system:masters'] }, { CN: ['alice'] }])
    const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm })
    await expectForbidden({ spec: { request: base64(request.toString('pem')) } })
  })
})

describe('a create with an invalid object', () => {
  test.each([
    [
      { apiVersion: 'certificates.k8s.io/v2' },
      'CertificateSigningRequest in version "v2" cannot be handled as a CertificateSigningRequest: no kind ',
    ],
    [{ kind: 'Pod' }, 'Pod in version "v1" cannot be handled as a CertificateSigningRequest'],
    [{ spec: 'x' }, 'cannot unmarshal string into Go struct field CertificateSigningRequest.spec'],
    [{ spec: { expirationSeconds: 600.5 } }, 'json: cannot unmarshal number 600.5 into Go struct field'],
    [{ spec: { request: '***' } }, 'illegal base64 data at input byte 0'],
    [{ spec: { request: 'AAA' } }, 'illegal base64 data at input byte 3'],
    [{ spec: { expirationSeconds: 2 ** 31 } }, 'expirationSeconds of type int32'],
    [{ spec: { usages: [1] } }, 'cannot unmarshal number'],
    [{ metadata: { name: 7 } }, 'cannot unmarshal number'],
  ])('returns 400 for %j', async (change, message) => {
    const { object } = await csr()
    const { code, body } = await asManager(CSRS, { method: 'POST', body: { ...object, ...change } })
    expect(code).toBe(400)
    expect(body.message).toContain(message)
  })

  test('returns 500 for a resourceVersion, as kube-apiserver does', async () => {
    const { object } = await csr()
    const body = { ...object, metadata: { ...object.metadata, resourceVersion: '1' } }
    expect(await asManager(CSRS, { method: 'POST', body })).toMatchObject({
      code: 500,
      body: { message: 'resourceVersion should not be set on objects to be created' },
    })
  })

  test.each([
    [{ labels: { 'a b': 'c' } }, 'metadata.labels: Invalid value: "a b": name part must consist of'],
    [{ labels: { a: 'c d' } }, 'metadata.labels: Invalid value: "c d": a valid label must be'],
    [{ annotations: { 'a b': '' } }, 'metadata.annotations: Invalid value: "a b": name part must consist of'],
  ])('returns 422 for the metadata %j', async (metadata, message) => {
    const { name, object } = await csr()
    const { code, body } = await asManager(CSRS, {
      method: 'POST',
      body: { ...object, metadata: { name, ...metadata } },
    })
    expect(code).toBe(422)
    expect(body.message).toContain(message)
  })

  test.each(['', '{', '[]', 'null', '"x"'])('returns 400 for the body %j', async (body) => {
    expect((await asManager(CSRS, { method: 'POST', body })).code).toBe(400)
  })

  test('returns 415 for another media type and 413 for a body over 3 MiB', async () => {
    const yaml = await asManager(CSRS, { method: 'POST', body: 'a: b', headers: { 'content-type': 'text/plain' } })
    expect(yaml.code).toBe(415)
    const large = await asManager(CSRS, { method: 'POST', body: `"${'x'.repeat(3 << 20)}"` })
    expect(large.code).toBe(413)
  })

  test('returns 409 for a name in use', async () => {
    const { name } = await create()
    const { code, body } = await create({ name })
    expect([code, body.message]).toEqual([
      409,
      `certificatesigningrequests.certificates.k8s.io "${name}" already exists`,
    ])
  })
})
