/** The reviews by their events: what everybody may ask about themselves, and what only some may ask about others. */
import { describe, expect, test } from 'vitest'
import { useFunctions } from '../support/functions.ts'
import { admin, alice } from '../support/users.ts'
import { describeVirtual } from './virtual/create.ts'

const functions = useFunctions()
const headers = { accept: 'application/json', 'content-type': 'application/json' }
const authentication = 'authentication.k8s.io/v1'
const authorization = 'authorization.k8s.io/v1'
const resourceAttributes = { group: 'management.platform', resource: 'ownedaccesskeys', verb: 'list' }

describe.each([
  { name: 'reviews/selfsubjectreview', apiVersion: authentication, kind: 'SelfSubjectReview', spec: {} },
  { name: 'reviews/tokenreview', apiVersion: authentication, kind: 'TokenReview', spec: { token: 'none' } },
  {
    name: 'reviews/selfsubjectaccessreview',
    apiVersion: authorization,
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  },
  {
    name: 'reviews/selfsubjectrulesreview',
    apiVersion: authorization,
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'p-web' },
  },
  {
    name: 'reviews/subjectaccessreview',
    apiVersion: authorization,
    kind: 'SubjectAccessReview',
    spec: { user: 'alice', resourceAttributes },
  },
])('$name', (review) => {
  describeVirtual(functions, review)

  describe('201', () => {
    test('the event', async () => {
      const { status: code, json } = await functions.invoke(review.name)
      expect([code, json.kind]).toEqual([201, review.kind])
    })
  })
})

describe('reviews/selfsubjectreview', () => {
  test('says who asks', async () => {
    const { json } = await functions.invoke('reviews/selfsubjectreview', { user: alice })
    expect(json.status.userInfo).toMatchObject({ username: 'alice', groups: ['system:authenticated'] })
  })
})

describe('reviews/selfsubjectaccessreview', () => {
  test('422: neither a resource nor a path', async () => {
    const body = { apiVersion: authorization, kind: 'SelfSubjectAccessReview', spec: {} }
    const { status: code } = await functions.invoke('reviews/selfsubjectaccessreview', { user: alice, headers, body })
    expect(code).toBe(422)
  })

  // Which of the two would count is for nobody to guess.
  test.each([
    [{ rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, 'rawSelector'],
    [{}, 'requirements'],
    [{ requirements: [] }, 'requirements'],
  ])('422: the selector %j', async (labelSelector, member) => {
    const spec = { resourceAttributes: { ...resourceAttributes, labelSelector } }
    const body = { apiVersion: authorization, kind: 'SelfSubjectAccessReview', spec }
    const { status: code, json } = await functions.invoke('reviews/selfsubjectaccessreview', { headers, body })
    const field = `spec.resourceAttributes.labelSelector.${member}`
    expect([code, json.details.causes.map((cause: { field: string }) => cause.field)]).toEqual([422, [field]])
  })

  test.each(['fieldSelector', 'labelSelector'])('201: a %s in one form', async (name) => {
    const spec = { resourceAttributes: { ...resourceAttributes, [name]: { rawSelector: 'a=b' } } }
    const body = { apiVersion: authorization, kind: 'SelfSubjectAccessReview', spec }
    expect((await functions.invoke('reviews/selfsubjectaccessreview', { headers, body })).status).toBe(201)
  })
})

describe('what is asked about others', () => {
  // Whoever may ask about any token or user may try out keys and look into others' rights.
  test.each(['tokenreview', 'subjectaccessreview'])('reviews/%s: 403 for a plain user', async (name) => {
    const { status: code, json } = await functions.invoke(`reviews/${name}`, { user: alice })
    expect([code, json.reason]).toEqual([403, 'Forbidden'])
  })

  // A cluster that asks hears of a token that is not taken no more than that.
  test('reviews/tokenreview: an unknown key', async () => {
    const { status: code, json } = await functions.invoke('reviews/tokenreview', { user: admin })
    expect([code, json.status]).toEqual([201, { user: {}, error: 'invalid bearer token' }])
  })
})
