import 'reflect-metadata'
import { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { describe, expect, test } from 'vitest'
import { createCertificateRequest } from '../../../../lib/kubeconfig/certificates/certificaterequest.ts'
import { base64, CSRS, csr, useVirtualCluster, type Wanted } from '../clustercalls.ts'

const { asManager, create } = useVirtualCluster()

const pem = (type: string, content: string) => base64(`-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`)
const signer = (signerName: string, value: string, what: string | RegExp) =>
  [{ signerName }, `spec.signerName: Invalid value: "${value}": ${what}`] as const
const tooShort = (seconds: number) =>
  [
    { expirationSeconds: seconds },
    `spec.expirationSeconds: Invalid value: ${seconds}: may not specify a duration less than 600 seconds (10 minutes)`,
  ] as const

describe('a create returns 422', () => {
  test.each<readonly [spec: object, what: string]>([
    ...[599, 0, -1].map(tooShort),
    [{ usages: [] }, 'spec.usages: Required value'],
    [{ usages: ['client auth', 'client auth'] }, 'spec.usages[1]: Duplicate value: "client auth"'],
    [{ usages: ['constructor'] }, 'spec.usages[0]: Unsupported value: "constructor": supported values: "any", '],
    [{ signerName: '' }, 'spec.signerName: Required value'],
    signer('kubernetes.io/legacy-unknown', 'kubernetes.io/legacy-unknown', 'the legacy signerName is not allowed via'),
    signer('nodomain/x', 'nodomain', 'should be a domain with at least two segments separated by dots'),
    signer('a.b/c/d', 'a.b/c/d', `must be a fully qualified domain and path of the form 'example.com/signer-name'`),
    signer('A.b/c', 'A.b', 'validating label "A": a lowercase RFC 1123 label'),
    signer('a..b/c', 'a..b', 'validating label "": a lowercase RFC 1123'),
    signer('a.b/_', '_', 'validating label "_": a lowercase RFC 1123 sub'),
    [{ request: pem('CERTIFICATE', 'AAAA') }, '": PEM block type must be CERTIFICATE REQUEST'],
    [{ request: '' }, 'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST'],
    [{ request: pem('CERTIFICATE REQUEST', 'MAA=') }, '": x509: malformed certificate request'],
  ])('for the spec %j', async (spec, what) => {
    const { name, code, body } = await create({ spec })
    expect([code, body.reason]).toEqual([422, 'Invalid'])
    expect(body.message).toContain(`CertificateSigningRequest.certificates.k8s.io "${name}" is invalid: spec.`)
    expect(body.message).toContain(what)
  })

  test('for a request signed by another key', async () => {
    const { request } = await createCertificateRequest('alice', [])
    const der = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1)
    const { code, body } = await create({ spec: { request: pem('CERTIFICATE REQUEST', der.toString('base64')) } })
    expect([code, body.message]).toEqual([422, expect.stringContaining('x509: ')])
  })

  test.each([
    ['', 'metadata.name: Required value: name or generateName is required'],
    ['..', `metadata.name: Invalid value: "..": may not be '..'`],
    ['a/b', `metadata.name: Invalid value: "a/b": may not contain '/'`],
  ])('for the name %j', async (name, what) => {
    const { code, body } = await create({ name })
    const message = `CertificateSigningRequest.certificates.k8s.io "${name}" is invalid: ${what}`
    expect([code, body.message]).toEqual([422, message])
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

const post = (body: unknown, headers?: Record<string, string>) =>
  asManager(CSRS, { method: 'POST', body: body as string, ...(headers && { headers }) })

describe('a create with an invalid object', () => {
  test.each<[change: object, code: number, message: string]>([
    [{ apiVersion: 'certificates.k8s.io/v2' }, 400, 'in version "v2" cannot be handled as a CertificateSigningRequest'],
    [{ kind: 'Pod' }, 400, 'Pod in version "v1" cannot be handled as a CertificateSigningRequest'],
    [{ spec: 'x' }, 400, 'cannot unmarshal string into Go struct field CertificateSigningRequest.spec'],
    [{ spec: { expirationSeconds: 600.5 } }, 400, 'json: cannot unmarshal number 600.5 into Go struct field'],
    [{ spec: { request: '***' } }, 400, 'illegal base64 data at input byte 0'],
    [{ spec: { request: 'AAA' } }, 400, 'illegal base64 data at input byte 3'],
    [{ spec: { expirationSeconds: 2 ** 31 } }, 400, 'expirationSeconds of type int32'],
    [{ spec: { usages: [1] } }, 400, 'cannot unmarshal number'],
    [{ metadata: { name: 7 } }, 400, 'cannot unmarshal number'],
    // As kube-apiserver does.
    [
      { metadata: { name: 'a', resourceVersion: '1' } },
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [{ metadata: { name: 'a', labels: { 'a b': 'c' } } }, 422, 'metadata.labels: Invalid value: "a b": name part must'],
    [
      { metadata: { name: 'a', labels: { a: 'c d' } } },
      422,
      'metadata.labels: Invalid value: "c d": a valid label must',
    ],
    [{ metadata: { name: 'a', annotations: { 'a b': '' } } }, 422, 'metadata.annotations: Invalid value: "a b": name'],
  ])('%j returns %i', async (change, code, message) => {
    const { object } = await csr()
    expect(await post({ ...object, ...change })).toMatchObject({
      code,
      body: { message: expect.stringContaining(message) },
    })
  })

  test.each(['', '{', '[]', 'null', '"x"'])('returns 400 for the body %j', async (body) => {
    expect((await post(body)).code).toBe(400)
  })

  test('returns 415 for another media type and 413 for a body over 3 MiB', async () => {
    expect((await post('a: b', { 'content-type': 'text/plain' })).code).toBe(415)
    expect((await post(`"${'x'.repeat(3 << 20)}"`)).code).toBe(413)
  })

  test('returns 409 for a name in use', async () => {
    const { name } = await create()
    const { code, body } = await create({ name })
    const message = `certificatesigningrequests.certificates.k8s.io "${name}" already exists`
    expect([code, body.message]).toEqual([409, message])
  })
})
