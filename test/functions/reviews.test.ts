/** Tests the reviews with their events: every user may review themselves, and only some may review others. */
import { describe, expect, test } from 'vitest'
import { useFunctions } from '../support/functions.ts'
import { envelope, field, message } from '../support/protobuf.ts'
import { admin, alice } from '../support/users.ts'
import { describeVirtual } from './virtual/create.ts'

const functions = useFunctions()
const headers = { accept: 'application/json', 'content-type': 'application/json' }
const authentication = 'authentication.k8s.io/v1'
const authorization = 'authorization.k8s.io/v1'
const resourceAttributes = { group: 'management.platform', resource: 'ownedaccesskeys', verb: 'list' }
const attributesInProtobuf = field(
  1,
  message(field(2, 'list'), field(3, 'management.platform'), field(5, 'ownedaccesskeys')),
)
const noSpec = Buffer.alloc(0)

describe.each([
  {
    name: 'reviews/selfsubjectreview',
    apiVersion: authentication,
    kind: 'SelfSubjectReview',
    spec: {},
    inProtobuf: noSpec,
  },
  {
    name: 'reviews/tokenreview',
    apiVersion: authentication,
    kind: 'TokenReview',
    spec: { token: 'none', audiences: ['a', 'b'] },
    inProtobuf: message(field(1, 'none'), field(2, 'a'), field(2, 'b')),
  },
  {
    name: 'reviews/selfsubjectaccessreview',
    apiVersion: authorization,
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
    inProtobuf: attributesInProtobuf,
  },
  {
    name: 'reviews/selfsubjectrulesreview',
    apiVersion: authorization,
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'p-web' },
    inProtobuf: field(1, 'p-web'),
  },
  {
    name: 'reviews/subjectaccessreview',
    apiVersion: authorization,
    kind: 'SubjectAccessReview',
    spec: { user: 'alice', groups: ['dev'], extra: { 'example.com/of': ['x', 'y'] }, uid: 'u', resourceAttributes },
    inProtobuf: message(
      attributesInProtobuf,
      field(3, 'alice'),
      field(4, 'dev'),
      field(5, message(field(1, 'example.com/of'), field(2, message(field(1, 'x'), field(1, 'y'))))),
      field(6, 'u'),
    ),
  },
])('$name', (review) => {
  describeVirtual(functions, review)

  describe('201', () => {
    test('accepts the event of the repository', async () =>
      expect(await functions.invoke(review.name)).toMatchObject({ status: 201, json: { kind: review.kind } }))

    // Compiled clients send reviews in protobuf and accept responses in JSON.
    test('returns the same for protobuf', async () => {
      const { name, apiVersion, kind, spec, inProtobuf } = review
      const ask = async (type: string, body: unknown) => {
        const { status: code, json } = await functions.invoke(name, {
          user: admin,
          headers: { 'content-type': type, accept: 'application/vnd.kubernetes.protobuf,application/json' },
          body,
        })
        return { code, ...json, metadata: {} }
      }
      const expected = await ask('application/json', { apiVersion, kind, spec })
      const raw = inProtobuf.length === 0 ? inProtobuf : field(2, inProtobuf)
      expect(expected).toMatchObject({ code: 201, kind, status: expect.any(Object) })
      expect(await ask('application/vnd.kubernetes.protobuf', envelope(apiVersion, kind, raw))).toEqual(expected)
    })
  })
})

test('reviews/selfsubjectreview returns the user of the request', async () => {
  const { json } = await functions.invoke('reviews/selfsubjectreview', { user: alice })
  expect(json.status.userInfo).toEqual({
    username: 'alice',
    groups: ['system:authenticated'],
    extra: {
      'management.platform/access-key': ['key-of-alice'],
      'management.platform/run': ['key key-of-alice'],
    },
  })
})

describe('reviews/selfsubjectaccessreview', () => {
  // Neither of the two forms takes precedence.
  test.each([
    [{ rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, 'rawSelector'],
    [{}, 'requirements'],
    [{ requirements: [] }, 'requirements'],
  ])('returns 422 for the selector %j', async (labelSelector, member) => {
    const spec = { resourceAttributes: { ...resourceAttributes, labelSelector } }
    const body = { apiVersion: authorization, kind: 'SelfSubjectAccessReview', spec }
    const { status: code, json } = await functions.invoke('reviews/selfsubjectaccessreview', { headers, body })
    const field = `spec.resourceAttributes.labelSelector.${member}`
    expect([code, json.details.causes.map((cause: { field: string }) => cause.field)]).toEqual([422, [field]])
  })

  test.each(['fieldSelector', 'labelSelector'])('returns 201 for a %s in one form', async (name) => {
    const spec = { resourceAttributes: { ...resourceAttributes, [name]: { rawSelector: 'a=b' } } }
    const body = { apiVersion: authorization, kind: 'SelfSubjectAccessReview', spec }
    expect((await functions.invoke('reviews/selfsubjectaccessreview', { headers, body })).status).toBe(201)
  })
})
