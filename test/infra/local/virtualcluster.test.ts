import 'reflect-metadata'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueClient, type KeyPair, makeAuthority, validFor } from '../../../infra/local/certificates.ts'
import type { ClusterUser } from '../../../infra/local/clusteraccess.ts'
import { startVirtualCluster, type VirtualCluster } from '../../../infra/local/virtualcluster.ts'
import { createCertificateRequest } from '../../../lib/kubeconfig/certificaterequest.ts'

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const DAY = 86_400_000
const realNow = Date.now()
let time = realNow
let cluster: VirtualCluster
/** The authority is kept in the file, where a test can borrow it. */
let authority: KeyPair

beforeAll(async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'virtualcluster.json')
  cluster = await startVirtualCluster({ path, now: () => time })
  authority = JSON.parse(await readFile(path, 'utf8')).state.authority
})
afterAll(() => cluster.close())

interface Call {
  method?: string
  body?: unknown
  token?: string
  certificate?: KeyPair
  headers?: Record<string, string>
}

interface Answer {
  code: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, compared with literals.
  body: any
}

function call(path: string, { method = 'GET', body, token, certificate, headers = {} }: Call = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${cluster.url}${path}`,
      {
        method,
        ca: cluster.certificateAuthority,
        agent: false,
        ...(certificate && { cert: certificate.certificate, key: certificate.key }),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      async (incoming) => {
        const received = Buffer.concat(await incoming.toArray()).toString('utf8')
        const json = incoming.headers['content-type'] === 'application/json'
        resolve({ code: incoming.statusCode ?? 0, body: json ? JSON.parse(received) : received })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

const asManager = (path: string, rest: Call = {}) => call(path, { token: cluster.token.manager, ...rest })
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const newName = (): string => `csr-${randomBytes(6).toString('hex')}`

interface Wanted {
  name?: string
  user?: string
  groups?: string[]
  spec?: object
}

async function csr({ name = newName(), user = 'alice', groups = ['dev'], spec = {} }: Wanted = {}) {
  const { request, key } = await createCertificateRequest(user, groups)
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, labels: { by: 'test' } },
    spec: {
      request: base64(request),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...spec,
    },
  }
  return { name, key, object }
}

const create = async (wanted: Wanted = {}) => {
  const { object, ...rest } = await csr(wanted)
  const { code, body } = await asManager(CSRS, { method: 'POST', body: object })
  return { ...rest, code, body }
}

const approval = (object: { status?: object }, condition = {}) => ({
  ...object,
  status: {
    ...object.status,
    conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'yes', ...condition }],
  },
})

/** Signing follows the approval on its own; the answers to this are in order, so it ends by itself or by the test's time. */
async function settled(name: string) {
  for (;;) {
    const { body } = await asManager(`${CSRS}/${name}`)
    if (body.status.certificate || body.status.conditions.some(({ type }: { type: string }) => type === 'Failed'))
      return body
  }
}

async function signed(wanted: Wanted = {}) {
  const { name, key, body } = await create(wanted)
  await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
  const { status } = await settled(name)
  const certificate = Buffer.from(status.certificate ?? '', 'base64').toString('utf8')
  return { certificate, key, status }
}

describe('a certificate', () => {
  test('goes the whole way from request to use', async () => {
    const { name, key, code, body } = await create({ groups: ['dev', 'ops'] })
    expect(code).toBe(201)
    expect(body).toMatchObject({
      metadata: { name, labels: { by: 'test' }, uid: expect.any(String), resourceVersion: expect.any(String) },
      spec: { username: 'system:keyplane:manager', groups: ['system:authenticated'], usages: ['client auth'] },
      status: {},
    })
    const approved = await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
    expect(approved.code).toBe(200)
    const { status } = await settled(name)
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
    const { certificate } = await signed({ spec: expirationSeconds === undefined ? {} : { expirationSeconds } })
    const parsed = new X509Certificate(certificate)
    const second = Math.floor(time / 1000)
    expect(Date.parse(parsed.validFrom) / 1000).toBe(second + from)
    expect(Date.parse(parsed.validTo) / 1000).toBe(second + to)
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(parsed.ca).toBe(false)
    expect(parsed.subject).toBe('O=dev\nCN=alice')
    expect(parsed.verify(new X509Certificate(cluster.certificateAuthority).publicKey)).toBe(true)
  })

  test.each([
    [['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
    [['digital signature'], 'missing required usage for client certificate: client auth'],
  ])('is not signed for %j', async (usages, message) => {
    const { status } = await signed({ spec: { usages } })
    expect(status.certificate).toBeUndefined()
    expect(status.conditions).toMatchObject([
      { type: 'Approved' },
      { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
    ])
  })

  test('is not signed by a signer that nobody is', async () => {
    const { name, body } = await create({ spec: { signerName: 'example.com/other' } })
    const answer = await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
    expect(answer.body.message).toBe(
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to approve requests with signerName "example.com/other"`,
    )
  })
})

describe('create, 422', () => {
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
  ])('%j', async (spec, what) => {
    const { name, code, body } = await create({ spec })
    expect(code).toBe(422)
    if (typeof what === 'string') expect(body.message).toBe(sentence(name, what))
    else expect(body.message).toMatch(what)
    expect(body.reason).toBe('Invalid')
  })

  test('a usage that does not exist', async () => {
    const { body } = await create({ spec: { usages: ['constructor'] } })
    expect(body.message).toContain('spec.usages[0]: Unsupported value: "constructor": supported values: "any", ')
  })

  test('a request that another key signed', async () => {
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
  ])('the name %j', async (name, what) => {
    const { code, body } = await create({ name })
    expect([code, body.message]).toEqual([422, sentence(name, what)])
  })
})

describe('create, 403', () => {
  const refused = async (wanted: Wanted) => {
    const { name, code, body } = await create(wanted)
    expect([code, body.message]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    ])
  }

  test('for the group system:masters, alone or among others', async () => {
    await refused({ groups: ['system:masters'] })
    await refused({ groups: ['dev', 'system:masters', 'ops'] })
  })

  test('for the group system:masters hidden as a second value of one RDN', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const name = new Name([{ O: ['a', 'system:masters'] }, { CN: ['alice'] }])
    const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm })
    await refused({ spec: { request: base64(request.toString('pem')) } })
  })
})

describe('create, 400 and 409', () => {
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
  ])('%j', async (change, message) => {
    const { object } = await csr()
    const { code, body } = await asManager(CSRS, { method: 'POST', body: { ...object, ...change } })
    expect(code).toBe(400)
    expect(body.message).toContain(message)
  })

  test('a resourceVersion is a 500, as in kube-apiserver', async () => {
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
  ])('%j', async (metadata, message) => {
    const { name, object } = await csr()
    const { code, body } = await asManager(CSRS, {
      method: 'POST',
      body: { ...object, metadata: { name, ...metadata } },
    })
    expect(code).toBe(422)
    expect(body.message).toContain(message)
  })

  test.each(['', '{', '[]', 'null', '"x"'])('the body %j', async (body) => {
    expect((await asManager(CSRS, { method: 'POST', body })).code).toBe(400)
  })

  test('another media type is a 415, a body over 3 MiB a 413', async () => {
    const yaml = await asManager(CSRS, { method: 'POST', body: 'a: b', headers: { 'content-type': 'text/plain' } })
    expect(yaml.code).toBe(415)
    const large = await asManager(CSRS, { method: 'POST', body: `"${'x'.repeat(3 << 20)}"` })
    expect(large.code).toBe(413)
  })

  test('a name that is taken', async () => {
    const { name } = await create()
    const { code, body } = await create({ name })
    expect([code, body.message]).toEqual([
      409,
      `certificatesigningrequests.certificates.k8s.io "${name}" already exists`,
    ])
  })
})

describe('approval', () => {
  const approve = (name: string, body: object, token = cluster.token.manager) =>
    call(`${CSRS}/${name}/approval`, { method: 'PUT', body, token })

  test('needs update of the approval and approve on the signer', async () => {
    const { name, body } = await create()
    const requester = await approve(name, approval(body), cluster.token.requester)
    expect([requester.code, requester.body.message]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: User "system:keyplane:requester" cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope`,
    ])
    const approver = await approve(name, approval(body), cluster.token.approver)
    expect([approver.code, approver.body.message]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"`,
    ])
    expect((await asManager(`${CSRS}/${name}`)).body.status).toEqual({})
  })

  test('cannot change what was requested', async () => {
    const { name, body } = await create()
    const other = await csr({ groups: ['system:masters'] })
    const changed = { ...approval(body), spec: { ...body.spec, ...other.object.spec, username: 'root' } }
    expect((await approve(name, changed)).body.spec).toEqual(body.spec)
  })

  test('cannot bring a certificate along', async () => {
    const { name, body } = await create()
    const forged = approval({ ...body, status: { certificate: base64('forged') } })
    expect((await approve(name, forged)).body.status.certificate).toBeUndefined()
    expect((await settled(name)).status.certificate).not.toBe(base64('forged'))
  })

  test.each([
    ['another uid', { uid: 'x' }, 409, 'Precondition failed: UID in precondition: x, UID in object meta: '],
    ['an old version', { resourceVersion: '1' }, 409, 'the object has been modified'],
    ['another name', { name: 'x' }, 400, 'the name of the object (x) does not match the name on the URL'],
    ['no name', { name: '' }, 400, 'was undeterminable: name must be provided'],
  ])('%s', async (_, metadata, code, message) => {
    const { name, body } = await create()
    const answer = await approve(name, approval({ ...body, metadata: { ...body.metadata, ...metadata } }))
    expect(answer.code).toBe(code)
    expect(answer.body.message).toContain(message)
  })

  test.each([
    [
      'a condition that is not true',
      [{ type: 'Approved', status: 'False' }],
      'status.conditions[0].status: Unsupported',
    ],
    ['a condition without status', [{ type: 'Approved' }], 'status.conditions[0].status: Required value'],
    ['a condition without type', [{ status: 'True' }], 'status.conditions[0].type: Required value'],
    [
      'both decisions',
      [
        { type: 'Approved', status: 'True' },
        { type: 'Denied', status: 'True' },
      ],
      'Approved and Denied conditions are mutually exclusive',
    ],
    [
      'one twice',
      [
        { type: 'Approved', status: 'True' },
        { type: 'Approved', status: 'True' },
      ],
      'status.conditions[1].type: Duplicate value: "Approved"',
    ],
  ])('%s', async (_, conditions, message) => {
    const { name, body } = await create()
    const answer = await approve(name, { ...body, status: { conditions } })
    expect(answer.code).toBe(422)
    expect(answer.body.message).toContain(message)
  })

  test('what has failed is not signed', async () => {
    const { name, body } = await create()
    const conditions = [
      { type: 'Approved', status: 'True' },
      { type: 'Failed', status: 'True' },
    ]
    expect((await approve(name, { ...body, status: { conditions } })).code).toBe(200)
    expect((await settled(name)).status.certificate).toBeUndefined()
  })

  test('a denied request stays denied and unsigned', async () => {
    const { name, body } = await create()
    const denied = await approve(name, approval(body, { type: 'Denied' }))
    const again = await approve(name, approval(denied.body))
    expect(again.code).toBe(422)
    expect(again.body.message).toContain('updates may not remove a condition of type "Denied"')
    expect((await asManager(`${CSRS}/${name}`)).body.status.certificate).toBeUndefined()
  })
})

describe('dryRun', () => {
  test('changes nothing', async () => {
    const { name, object } = await csr()
    expect((await asManager(`${CSRS}?dryRun=All`, { method: 'POST', body: object })).code).toBe(201)
    expect((await asManager(`${CSRS}/${name}`)).code).toBe(404)
    const { body } = await asManager(CSRS, { method: 'POST', body: object })
    const approved = { method: 'PUT', body: approval(body) }
    expect((await asManager(`${CSRS}/${name}/approval?dryRun=All`, approved)).body.status.conditions).toHaveLength(1)
    expect((await asManager(`${CSRS}/${name}?dryRun=All`, { method: 'DELETE' })).code).toBe(200)
    expect((await asManager(`${CSRS}/${name}`)).body).toEqual(body)
  })

  test('has one value', async () => {
    const { object } = await csr()
    expect((await asManager(`${CSRS}?dryRun=Some`, { method: 'POST', body: object })).body.message).toBe(
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    )
  })
})

describe('delete', () => {
  test.each([
    ['uid', 'the UID in the precondition (x) does not match the UID in record'],
    ['resourceVersion', 'the ResourceVersion in the precondition (x) does not match the ResourceVersion in record'],
  ])('keeps another %s', async (member, message) => {
    const { name } = await create()
    const { code, body } = await asManager(`${CSRS}/${name}`, {
      method: 'DELETE',
      body: { preconditions: { [member]: 'x' } },
    })
    expect(code).toBe(409)
    expect(body.message).toContain(message)
    expect((await asManager(`${CSRS}/${name}`)).code).toBe(200)
  })

  test('what is old and undecided goes by itself', async () => {
    const { name } = await create()
    time += DAY + 1000
    const later = await create()
    time = realNow
    const { body } = await asManager(CSRS)
    const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    expect(names).toContain(later.name)
    expect(names).not.toContain(name)
  })
})

describe('who asks', () => {
  const pods = '/api/v1/namespaces/default/pods'

  test('nobody may see the version and nothing else', async () => {
    expect((await call('/version')).body).toMatchObject({ major: '1', minor: '34' })
    expect((await call('/readyz')).body).toBe('ok')
    const refused = await call(pods)
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    ])
    expect((await call('/api')).code).toBe(403)
    expect((await call(CSRS)).code).toBe(403)
  })

  test.each(['Bearer x', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b'])('%j is a 401', async (authorization) => {
    expect((await call(pods, { headers: { authorization } })).body).toMatchObject({
      code: 401,
      message: 'Unauthorized',
    })
    expect((await call('/version', { headers: { authorization } })).code).toBe(401)
  })

  test.each([
    [
      'of another authority',
      async () => issueClient(await makeAuthority('other', validFor(1, time)), who, validFor(1, time)),
    ],
    [
      'that is over',
      () => issueClient(authority, who, { notBefore: new Date(time - 2 * DAY), notAfter: new Date(time - DAY) }),
    ],
    [
      'that has not begun',
      () => issueClient(authority, who, { notBefore: new Date(time + DAY), notAfter: new Date(time + 2 * DAY) }),
    ],
    [
      'without a user',
      () => issueClient(authority, { commonName: '', organizations: ['system:masters'] }, validFor(1, time)),
    ],
  ])('a certificate %s is a 401, even with a good token', async (_, make) => {
    const certificate = await make()
    expect((await call(pods, { certificate })).code).toBe(401)
    expect((await call(pods, { certificate, token: cluster.token.manager })).code).toBe(401)
  })

  test('a certificate that ends while its connection is open', async () => {
    const certificate = await issueClient(authority, who, validFor(1, time))
    expect((await call(pods, { certificate })).code).toBe(200)
    time += 2 * DAY
    const { code } = await call(pods, { certificate })
    time = realNow
    expect(code).toBe(401)
  })

  test('a group in a certificate counts', async () => {
    const certificate = await issueClient(authority, { ...who, organizations: ['system:masters'] }, validFor(1, time))
    expect((await call(CSRS, { certificate })).code).toBe(200)
    expect((await call(CSRS, { certificate: await issueClient(authority, who, validFor(1, time)) })).code).toBe(403)
  })

  test('a token is put to the verifier, which may not make anybody special', async () => {
    const users = new Map<string, ClusterUser>([
      ['alice', { name: 'alice', groups: ['dev'] }],
      ['named', { name: 'system:keyplane:manager', groups: [] }],
      ['grouped', { name: 'alice', groups: ['system:masters'] }],
    ])
    expect((await call(pods, { token: 'alice' })).code).toBe(401)
    cluster.accept(async (token) => users.get(token), allowed)
    expect((await call(pods, { token: 'alice' })).code).toBe(200)
    expect((await call(CSRS, { token: 'alice' })).code).toBe(403)
    for (const token of ['named', 'grouped', 'unknown']) expect((await call(pods, { token })).code).toBe(401)
    cluster.accept(nobody, allowed)
  })

  test('the review has the first word, and its reason is told', async () => {
    const asked: unknown[] = []
    const review = async (user: ClusterUser, what: unknown) => {
      asked.push([user.name, what])
      return user.extra?.mood?.[0] === 'bad' ? 'not today' : undefined
    }
    const extra = { mood: ['bad'] }
    cluster.accept(async (token) => ({ name: token, groups: [], ...(token === 'bob' && { extra }) }), review)
    const refused = await call(`${pods}/hello-0`, { token: 'bob' })
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'pods "hello-0" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "default": not today',
    ])
    expect((await call('/api', { token: 'bob' })).body.message).toBe(
      'forbidden: User "bob" cannot get path "/api": not today',
    )
    expect((await call(pods, { token: 'alice' })).code).toBe(200)
    expect(asked).toEqual([
      ['bob', { verb: 'get', group: '', resource: 'pods', name: 'hello-0', namespace: 'default' }],
      ['bob', { path: '/api' }],
      ['alice', { verb: 'list', group: '', resource: 'pods', name: '', namespace: 'default' }],
    ])
    cluster.accept(nobody, allowed)
  })

  const who = { commonName: 'alice' }
  const nobody = async () => undefined
  const allowed = async () => undefined
})

describe('what there is', () => {
  test('pods as a list, as a table, one by one, by namespace', async () => {
    const list = await asManager('/api/v1/pods')
    expect(list.body).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'hello-0' } }, {}] })
    const table = await asManager('/api/v1/namespaces/default/pods?limit=500', {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    })
    expect(table.body).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['hello-0', '1/1', 'Running', 0, '0s'] }, {}],
    })
    expect((await asManager('/api/v1/namespaces/default/pods/hello-1')).body).toMatchObject({ kind: 'Pod' })
    expect((await asManager('/api/v1/namespaces/default/pods/none')).body.message).toBe('pods "none" not found')
    expect((await asManager('/api/v1/namespaces/other/pods')).body.items).toEqual([])
    expect((await asManager('/api/v1/namespaces/default')).body).toMatchObject({ kind: 'Namespace' })
  })

  test.each(['/api', '/apis', '/api/v1', '/apis/certificates.k8s.io', '/apis/certificates.k8s.io/v1'])(
    'discovery at %s',
    async (path) => {
      expect((await asManager(path)).code).toBe(200)
    },
  )

  test.each([
    ['GET', '/api/v1/secrets', 403],
    ['GET', '/apis/none/v1', 404],
    ['GET', '/nothing', 403],
    ['GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 403],
    ['POST', '/api/v1/namespaces/default/pods', 403],
    ['PUT', `${CSRS}/x`, 403],
    ['DELETE', CSRS, 403],
    ['GET', `${CSRS}?watch=true`, 403],
    ['GET', '/api/v1/namespaces/%ff/pods', 404],
    ['POST', '/version', 405],
  ])('%s %s is a %d for those who manage certificates', async (method, path, code) => {
    expect((await asManager(path, { method })).body).toMatchObject({ kind: 'Status', code })
  })
})

test('no certificate outlives its authority', async () => {
  const brief = await makeAuthority('brief', validFor(1, time))
  const { certificate } = await issueClient(brief, { commonName: 'alice' }, validFor(2, time))
  expect(new X509Certificate(certificate).validTo).toBe(new X509Certificate(brief.certificate).validTo)
})

test('authority, address and tokens outlive a restart', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'virtualcluster.json')
  const first = await startVirtualCluster({ path, now: () => time })
  await first.close()
  const second = await startVirtualCluster({ path, now: () => time })
  await second.close()
  expect(second).toMatchObject({
    url: first.url,
    certificateAuthority: first.certificateAuthority,
    token: first.token,
  })
  const third = await startVirtualCluster({ path, now: () => time + 9.5 * 365 * DAY })
  await third.close()
  expect(third.certificateAuthority).not.toBe(first.certificateAuthority)
  expect(createPrivateKey(authority.key).asymmetricKeyType).toBe('ec')
})
