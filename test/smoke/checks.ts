/**
 * Defines checks that depend on API Gateway itself. The tests of test/deploy run all of them on the emulator: it must pass
 * those marked as emulated and fail the others, so that no check is forgotten.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { envelope, field, message } from '../support/protobuf.ts'
import type { Client } from './client.ts'

export interface Check {
  name: string
  /** Whether the emulator of test/deploy passes it too. */
  emulated: boolean
  /** Rejects with an AssertionError when the check fails. */
  run(client: Client): Promise<void>
}

const api = '/apis/management.platform/v1'
const keys = `${api}/ownedaccesskeys`

const keyObject = (spec: object) => ({
  apiVersion: 'management.platform/v1',
  kind: 'OwnedAccessKey',
  metadata: { name: `smoke-${randomUUID()}` },
  // If a check is interrupted, the sweep deletes its key.
  spec: { description: 'made by a smoke test', ttl: 600, ...spec },
})

/** Creates a key, runs `work` with it and deletes the key. */
async function withKey(client: Client, spec: object, work: (key: { name: string; value: string }) => Promise<void>) {
  const made = await client.call(keys, { method: 'POST', body: keyObject(spec) })
  assert.equal(made.status, 201, made.text)
  const { name } = made.json.metadata
  try {
    await work({ name, value: made.json.spec.key })
  } finally {
    await client.call(`${keys}/${name}`, { method: 'DELETE' })
  }
}

export const checks: readonly Check[] = [
  {
    name: 'the body of a 403 is the Status that the authorizer wrote',
    emulated: false,
    run: (client) =>
      // A name that requires escapes in JSON.
      withKey(client, { user: 'smoke "\\ ü', scope: {} }, async ({ value }) => {
        const answer = await client.call(`${keys}/nothing`, { token: value })
        assert.equal(answer.status, 403, answer.text)
        assert.equal(answer.json?.kind, 'Status', answer.text)
        assert.equal(answer.json.reason, 'Forbidden')
        assert.match(answer.json.message, /^ownedaccesskeys\.management\.platform "nothing" is forbidden: User "smoke /)
        assert.ok(answer.headers['audit-id'], 'no Audit-Id')
      }),
  },
  {
    name: 'a list is streamed',
    emulated: false,
    async run(client) {
      const answer = await client.call(keys)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.json?.kind, 'OwnedAccessKeyList', answer.text)
      assert.ok(answer.json.items.length > 0)
      assert.equal(answer.headers['content-length'], undefined, 'its length was known before it was sent')
    },
  },
  {
    name: 'a watch shows a change while it is open',
    emulated: false,
    run: (client) =>
      withKey(client, { user: 'smoke' }, async ({ name, value }) => {
        const got = await client.call(`${keys}/${name}`)
        const { resourceVersion } = got.json.metadata
        const began = performance.now()
        const watch = client.lines(`${keys}?watch=1&timeoutSeconds=60&resourceVersion=${resourceVersion}`, value)
        const patch = client.call(`${keys}/${name}`, {
          method: 'PATCH',
          body: { metadata: { labels: { smoke: 'true' } } },
          type: 'application/merge-patch+json',
        })
        const [{ value: line }, changed] = await Promise.all([watch.next(), patch])
        assert.equal(changed.status, 200, changed.text)
        const event = JSON.parse(line ?? '{}')
        assert.equal(event.type, 'MODIFIED', line ?? 'the watch ended')
        assert.equal(event.object.metadata.name, name)
        assert.ok(performance.now() - began < 30_000, 'the event came with the end of the watch only')
        await watch.return()
      }),
  },
  {
    name: 'several Warning headers arrive one by one',
    emulated: true,
    async run(client) {
      const body = { ...keyObject({ user: 'smoke', one: 1, two: 2 }) }
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
