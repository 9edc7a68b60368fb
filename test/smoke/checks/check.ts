/** Defines a check, and the keys that checks make. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Client } from '../client.ts'

export interface Check {
  name: string
  /** Whether the emulator of test/deploy passes it too. */
  emulated: boolean
  /** Rejects with an AssertionError, or an error of the connection, when the check fails. */
  run(client: Client): Promise<void>
}

export const management = '/apis/management.platform/v1'
export const keys = `${management}/ownedaccesskeys`

export const keyObject = (spec: object, metadata: object = {}) => ({
  apiVersion: 'management.platform/v1',
  kind: 'OwnedAccessKey',
  metadata: { name: `smoke-${randomUUID()}`, ...metadata },
  // If a check is interrupted, the sweep deletes its key.
  spec: { description: 'made by a smoke test', ttl: 600, ...spec },
})

interface Made {
  name: string
  /** The key itself. */
  value: string
  resourceVersion: string
}

/** Creates a key, runs `work` with it and deletes the key. */
export async function withKey(
  client: Client,
  object: ReturnType<typeof keyObject>,
  work: (key: Made) => Promise<void>,
): Promise<void> {
  const made = await client.call(keys, { method: 'POST', body: object })
  assert.equal(made.status, 201, made.text)
  const { name, resourceVersion } = made.json.metadata
  try {
    await work({ name, value: made.json.spec.key, resourceVersion })
  } finally {
    await client.call(`${keys}/${name}`, { method: 'DELETE' })
  }
}

/** Asserts that the body is a Status of this code, and returns it. */
export function assertStatus(answer: Awaited<ReturnType<Client['call']>>, code: number, reason: string) {
  assert.equal(answer.status, code, answer.text)
  assert.equal(answer.json?.kind, 'Status', `no Status: ${answer.text}`)
  assert.deepEqual([answer.json.code, answer.json.reason], [code, reason])
  assert.ok(answer.headers['audit-id'], 'no Audit-Id')
  return answer.json
}
