/** Certificates of the demo virtual cluster: what it signs, and what it refuses as a kube-apiserver does. */
import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { describe, expect, test } from 'vitest'
import { createCertificateRequest } from '../../../../lib/clusters/certificates/certificaterequest.ts'
import { approval, base64, CSRS, csr, useVirtualCluster, type Wanted } from '../clustercalls.ts'

const { asManager, call, clock, cluster, create, signCertificate, waitForSigning } = useVirtualCluster()
const pem = (type: string, content: string) => base64(`-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`)
const forbidden = (name: string) => `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden:`

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
    expect([parsed.keyUsage, parsed.ca, parsed.subject]).toEqual([['1.3.6.1.5.5.7.3.2'], false, 'O=dev\nCN=alice'])
    expect(parsed.verify(new X509Certificate(cluster().certificateAuthority).publicKey)).toBe(true)
  })
})

describe('a create', () => {
  test.each<readonly [spec: object, field: string]>([
    [{ expirationSeconds: 599 }, 'spec.expirationSeconds'],
    [{ expirationSeconds: 600.5 }, 'spec.expirationSeconds'],
    [{ usages: [] }, 'spec.usages'],
    [{ usages: ['digital signature'] }, 'spec.usages'],
    [{ usages: ['client auth', 'server auth'] }, 'spec.usages'],
    [{ signerName: 'example.com/other' }, 'spec.signerName'],
    [{ request: 7 }, 'spec.request'],
    [{ request: '' }, 'spec.request'],
    [{ request: pem('CERTIFICATE', 'AAAA') }, 'spec.request'],
    [{ request: pem('CERTIFICATE REQUEST', 'MAA=') }, 'spec.request'],
  ])('is a 400 for the spec %j', async (spec, field) => {
    const { code, body } = await create({ spec })
    expect([code, body.message]).toEqual([400, expect.stringContaining(`: ${field} is not what this cluster accepts`)])
  })

  test('is a 400 for a request signed by another key', async () => {
    const { request } = await createCertificateRequest('alice', [])
    const der = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1)
    expect((await create({ spec: { request: pem('CERTIFICATE REQUEST', der.toString('base64')) } })).code).toBe(400)
  })

  const expectForbidden = async (wanted: Wanted) => {
    const { name, code, body } = await create(wanted)
    const why = 'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'
    expect([code, body.message]).toEqual([403, `${forbidden(name)} ${why}`])
  }

  test('is a 403 for the group system:masters, alone or among others', async () => {
    await expectForbidden({ groups: ['system:masters'] })
    await expectForbidden({ groups: ['dev', 'system:masters', 'ops'] })
  })

  test('is a 403 for the group system:masters hidden as a second value of one RDN', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const name = new Name([{ O: ['a', 'system:masters'] }, { CN: ['alice'] }])
    const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm })
    await expectForbidden({ spec: { request: base64(request.toString('pem')) } })
  })

  test('is a 409 for a name in use, and a 400 for a dry run and for a body that is not an object', async () => {
    const { name } = await create()
    expect((await create({ name })).code).toBe(409)
    const { object } = await csr()
    expect((await asManager(`${CSRS}?dryRun=All`, { method: 'POST', body: object })).code).toBe(400)
    for (const body of ['', '{', '[]', 'null', '"x"', '{"spec":"x"}', '{"metadata":{"name":"../x"},"spec":{}}'])
      expect([body, (await asManager(CSRS, { method: 'POST', body })).code]).toEqual([body, 400])
  })

  test('removes old pending requests', async () => {
    const { name } = await create()
    const before = clock.time
    clock.time += 86_401_000
    const later = await create()
    clock.time = before
    const { body } = await asManager(CSRS)
    const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    expect([names.includes(later.name), names.includes(name)]).toEqual([true, false])
  })
})

describe('an approval', () => {
  const approve = (name: string, body: object, token = cluster().token.manager) =>
    call(`${CSRS}/${name}/approval`, { method: 'PUT', body, token })

  test('requires update on the approval and approve on the signer', async () => {
    const { name, body } = await create()
    const requester = await approve(name, approval(body), cluster().token.requester)
    expect([requester.code, requester.body.message]).toEqual([
      403,
      `${forbidden(name)} User "system:keyplane:requester" cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope`,
    ])
    const approver = await approve(name, approval(body), cluster().token.approver)
    expect([approver.code, approver.body.message]).toEqual([
      403,
      `${forbidden(name)} user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"`,
    ])
    expect((await asManager(`${CSRS}/${name}`)).body.status).toEqual({})
  })

  test('changes neither the spec nor the certificate', async () => {
    const { name, body } = await create()
    const other = await csr({ groups: ['system:masters'] })
    const spec = { ...body.spec, ...other.object.spec, username: 'root' }
    const forged = approval({ ...body, spec, status: { certificate: base64('forged') } })
    const answer = await approve(name, forged)
    expect([answer.body.spec, answer.body.status.certificate]).toEqual([body.spec, undefined])
    expect((await waitForSigning(name)).status.certificate).not.toBe(base64('forged'))
  })

  test.each([
    ['uid', 'x'],
    ['resourceVersion', '1'],
    ['name', 'x'],
  ])('is a 409 with another %s', async (member, value) => {
    const { name, body } = await create()
    const answer = await approve(name, approval({ ...body, metadata: { ...body.metadata, [member]: value } }))
    expect([answer.code, (await asManager(`${CSRS}/${name}`)).body.status]).toEqual([409, {}])
  })

  const [approved, denied, failed] = ['Approved', 'Denied', 'Failed'].map((type) => ({ type, status: 'True' }))
  test.each([
    ['a condition that is not true', [{ ...approved, status: 'False' }]],
    ['another condition', [{ type: 'Other', status: 'True' }]],
    ['both decisions', [approved, denied]],
    ['the same condition twice', [approved, approved]],
    ['no list', 'x'],
  ])('is a 400 with %s', async (_, conditions) => {
    const { name, body } = await create()
    expect((await approve(name, { ...body, status: { conditions } })).code).toBe(400)
  })

  test('of a failed request signs nothing, and a denied one stays denied', async () => {
    const first = await create()
    expect((await approve(first.name, { ...first.body, status: { conditions: [approved, failed] } })).code).toBe(200)
    expect((await waitForSigning(first.name)).status.certificate).toBeUndefined()
    const second = await create()
    const { body } = await approve(second.name, approval(second.body, { type: 'Denied' }))
    expect((await approve(second.name, approval(body))).code).toBe(400)
    expect((await asManager(`${CSRS}/${second.name}`)).body.status.certificate).toBeUndefined()
  })
})

test('a delete keeps a request with another uid', async () => {
  const { name } = await create()
  const wrong = { method: 'DELETE', body: { preconditions: { uid: 'x' } } }
  expect((await asManager(`${CSRS}/${name}`, wrong)).code).toBe(409)
  expect((await asManager(`${CSRS}/${name}`)).code).toBe(200)
})
