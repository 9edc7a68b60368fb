/** Tests what clients learn when the table does not answer, and what their requests have done then. */
import { describe, expect, test } from 'vitest'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import { useBadNetwork } from '../support/badserver.ts'
import { seed } from '../support/effort.ts'
import { accessKey, keys } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'

const { server, network, clear } = useBadNetwork(randomFrom(seed))
/** Returns the error that clients know for a request that was abandoned. */
function expectStatus({ status, headers, json }: Answer): void {
  if (status < 300) return
  expect(json, `${status}`).toMatchObject({ kind: 'Status', status: 'Failure', code: status })
  expect([404, 409, 429, 503, 504]).toContain(status)
  if (status < 429) return
  expect(json.details?.retryAfterSeconds).toBeGreaterThan(0)
  expect(headers['retry-after']).toBe(status === 504 ? undefined : String(json.details.retryAfterSeconds))
}

describe('a table that does not answer', () => {
  const keyNamed = (name: string) => ({ method: 'POST', body: accessKey(name) })

  test('makes every request return 503 until it answers again', async () => {
    network.weather = { share: 1, faults: ['lost'] }
    const answers = await Promise.all([
      server.call(keys),
      server.call(keys, keyNamed('nothing')),
      server.call(`${keys}?watch=1`),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(503)
      expectStatus(answer)
    }
    clear()
    expect((await server.call(`${keys}/nothing`)).status).toBe(404)
    expect((await server.call(keys, keyNamed('nothing'))).status).toBe(201)
  })

  test.each([
    { faults: ['throttled'], operations: ['UpdateItem'], status: 429, found: 404 },
    { faults: ['lost'], operations: ['UpdateItem'], status: 503, found: 404 },
    // The transaction succeeded, but its writer does not know.
    { faults: ['unanswered'], operations: ['TransactWriteItems', 'PutItem'], status: 504, found: 200 },
  ] as const)('to a create, by $operations $faults: $status', async ({ status, found, ...weather }) => {
    network.weather = { share: 1, ...weather }
    const answer = await server.call(keys, keyNamed(`refused-${status}`))
    expect(answer.status).toBe(status)
    expectStatus(answer)
    clear()
    expect((await server.call(`${keys}/refused-${status}`)).status).toBe(found)
  })
})
