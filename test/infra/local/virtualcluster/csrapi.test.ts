import { describe, expect, test } from 'vitest'
import { approval, base64, CSRS, csr, useVirtualCluster } from '../clustercalls.ts'

const { asManager, call, clock, cluster, create, waitForSigning } = useVirtualCluster()

describe('approval', () => {
  const approve = (name: string, body: object, token = cluster().token.manager) =>
    call(`${CSRS}/${name}/approval`, { method: 'PUT', body, token })

  test('requires update on the approval and approve on the signer', async () => {
    const { name, body } = await create()
    const requester = await approve(name, approval(body), cluster().token.requester)
    const forbidden = `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden:`
    expect([requester.code, requester.body.message]).toEqual([
      403,
      `${forbidden} User "system:keyplane:requester" cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope`,
    ])
    const approver = await approve(name, approval(body), cluster().token.approver)
    expect([approver.code, approver.body.message]).toEqual([
      403,
      `${forbidden} user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"`,
    ])
    expect((await asManager(`${CSRS}/${name}`)).body.status).toEqual({})
  })

  test('cannot change the spec', async () => {
    const { name, body } = await create()
    const other = await csr({ groups: ['system:masters'] })
    const changed = { ...approval(body), spec: { ...body.spec, ...other.object.spec, username: 'root' } }
    expect((await approve(name, changed)).body.spec).toEqual(body.spec)
  })

  test('cannot set a certificate', async () => {
    const { name, body } = await create()
    const forged = approval({ ...body, status: { certificate: base64('forged') } })
    expect((await approve(name, forged)).body.status.certificate).toBeUndefined()
    expect((await waitForSigning(name)).status.certificate).not.toBe(base64('forged'))
  })

  test.each([
    ['another uid', { uid: 'x' }, 409, 'Precondition failed: UID in precondition: x, UID in object meta: '],
    ['an old version', { resourceVersion: '1' }, 409, 'the object has been modified'],
    ['another name', { name: 'x' }, 400, 'the name of the object (x) does not match the name on the URL'],
    ['no name', { name: '' }, 400, 'was undeterminable: name must be provided'],
  ])('is refused with %s', async (_, metadata, code, message) => {
    const { name, body } = await create()
    const answer = await approve(name, approval({ ...body, metadata: { ...body.metadata, ...metadata } }))
    expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)])
  })

  const [approved, denied] = ['Approved', 'Denied'].map((type) => ({ type, status: 'True' }))
  test.each([
    ['a condition that is not true', [{ ...approved, status: 'False' }], 'conditions[0].status: Unsupported'],
    ['a condition without status', [{ type: 'Approved' }], 'status.conditions[0].status: Required value'],
    ['a condition without type', [{ status: 'True' }], 'status.conditions[0].type: Required value'],
    ['both decisions', [approved, denied], 'Approved and Denied conditions are mutually exclusive'],
    ['the same condition twice', [approved, approved], 'status.conditions[1].type: Duplicate value: "Approved"'],
  ])('is refused with %s', async (_, conditions, message) => {
    const { name, body } = await create()
    const answer = await approve(name, { ...body, status: { conditions } })
    expect([answer.code, answer.body.message]).toEqual([422, expect.stringContaining(message)])
  })

  test('does not sign a failed request', async () => {
    const { name, body } = await create()
    const conditions = ['Approved', 'Failed'].map((type) => ({ type, status: 'True' }))
    expect((await approve(name, { ...body, status: { conditions } })).code).toBe(200)
    expect((await waitForSigning(name)).status.certificate).toBeUndefined()
  })

  test('keeps a denied request denied and unsigned', async () => {
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

  test('accepts one value', async () => {
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
    const wrong = { method: 'DELETE', body: { preconditions: { [member]: 'x' } } }
    const { code, body } = await asManager(`${CSRS}/${name}`, wrong)
    expect([code, body.message]).toEqual([409, expect.stringContaining(message)])
    expect((await asManager(`${CSRS}/${name}`)).code).toBe(200)
  })

  test('removes old pending requests', async () => {
    const { name } = await create()
    const before = clock.time
    clock.time += 86_401_000
    const later = await create()
    clock.time = before
    const { body } = await asManager(CSRS)
    const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    expect(names).toContain(later.name)
    expect(names).not.toContain(name)
  })
})
