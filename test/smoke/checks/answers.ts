/** Checks answers of the authorizer and of API Gateway, headers, and bodies of requests. */
import assert from 'node:assert/strict'
import { envelope, field, message } from '../../support/protobuf.ts'
import { assertStatus, type Check, keyObject, keys, withKey } from './check.ts'

/** An unknown key with a valid checksum. */
const STRANGER = 'mpk_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2XPpx7'

// A name that requires escapes in JSON, and is no ASCII.
const confined = keyObject({ user: 'smoke "\\ ü', scope: {} })
const refusal =
  /^ownedaccesskeys\.management\.platform .*is forbidden: User "smoke \\"\\\\ ü" cannot .*: spec\.scope does not allow /

export const answers: readonly Check[] = [
  {
    name: 'a refusal of a scope is a Status with its reason',
    emulated: true,
    run: (client) =>
      withKey(client, confined, async ({ value }) => {
        const { message: text } = assertStatus(await client.call(`${keys}/nothing`, { token: value }), 403, 'Forbidden')
        assert.match(text, refusal)
      }),
  },
  {
    name: 'a refusal of a scope on a streamed route is a Status with its reason',
    emulated: false,
    run: (client) =>
      withKey(client, confined, async ({ value }) => {
        const { message: text } = assertStatus(await client.call(keys, { token: value }), 403, 'Forbidden')
        assert.match(text.replace('is forbidden', ' is forbidden'), refusal)
      }),
  },
  {
    name: 'an unknown key is a 401 with a Status of API Gateway',
    emulated: true,
    async run(client) {
      const { message: text } = assertStatus(await client.call(keys, { token: STRANGER }), 401, 'Unauthorized')
      assert.match(text, /^Unauthorized: the access key is not known here/)
    },
  },
  {
    name: 'two Authorization headers authenticate nobody',
    emulated: true,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name, value }) => {
        const answer = await client.call(`${keys}/${name}`, { token: [value, STRANGER] })
        assertStatus(answer, 401, 'Unauthorized')
        assertStatus(await client.call(`${keys}/${name}`, { token: [STRANGER, value] }), 401, 'Unauthorized')
        assert.equal((await client.call(`${keys}/${name}`, { token: value })).status, 200)
      }),
  },
  {
    name: 'the header Retry-After of a function arrives',
    emulated: false,
    async run(client) {
      // A revision that does not exist yet: nothing was done, so the client may repeat the request.
      const answer = await client.call(`${keys}?resourceVersion=999999999999`)
      assertStatus(answer, 504, 'Timeout')
      assert.equal(answer.headers['retry-after'], '1')
    },
  },
  {
    name: 'several Warning headers arrive one by one',
    emulated: true,
    async run(client) {
      const body = keyObject({ user: 'smoke', one: 1, two: 2 })
      const answer = await client.call(`${keys}?dryRun=All&fieldValidation=Warn`, { method: 'POST', body })
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(answer.values('warning').sort(), [
        '299 - "unknown field \\"spec.one\\""',
        '299 - "unknown field \\"spec.two\\""',
      ])
    },
  },
  {
    name: 'a review in protobuf is understood',
    emulated: true,
    async run(client) {
      const answer = await client.call('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        method: 'POST',
        body: accessReview({ verb: 'list', group: 'management.platform', resource: 'ownedaccesskeys' }),
        type: 'application/vnd.kubernetes.protobuf',
        accept: 'application/vnd.kubernetes.protobuf,application/json',
      })
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.json?.status?.allowed, true, answer.text)
      assert.equal(answer.json.spec.resourceAttributes.resource, 'ownedaccesskeys')
    },
  },
]

/** Returns a SelfSubjectAccessReview as compiled clients send it. Source: k8s.io/api authorization/v1 generated.proto. */
function accessReview({ verb, group, resource }: { verb: string; group: string; resource: string }): Buffer {
  const attributes = message(field(2, verb), field(3, group), field(5, resource))
  const raw = field(2, field(1, attributes))
  return envelope('authorization.k8s.io/v1', 'SelfSubjectAccessReview', raw)
}

/** Ends the attempt where a deployment allows more than a single client can send. */
const MOST = 40_000
const AT_ONCE = 200

/** A check that requests more than `throttle-rate` allows. Other clients are throttled meanwhile, so it runs only on request. */
export const throttling: Check = {
  name: 'a throttled request is a 429 with a Status and Retry-After',
  emulated: false,
  async run(client) {
    for (let sent = 0; sent < MOST; sent += AT_ONCE) {
      const some = await Promise.all(Array.from({ length: AT_ONCE }, () => client.call('/version', { token: '' })))
      const throttled = some.find(({ status }) => status !== 200)
      if (throttled === undefined) continue
      assertStatus(throttled, 429, 'TooManyRequests')
      assert.equal(throttled.headers['retry-after'], '1')
      return
    }
    assert.fail(`${MOST} requests were not throttled`)
  },
}
