import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createResponseStream } from '../../../infra/local/gateway/streaming.ts'
import { encodeUser } from '../../../lib/authentication/requests/usercontext.ts'
import { useFunctions } from '../../support/functions.ts'
import { alice } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, at } = callsOf(functions, accessKeys)

// Fake only the clock of the key checks: the table answers in real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Lists for a client that reads only the first chunk. Resolves with how the list ended. */
async function listAndStall(user: typeof alice, headers: object) {
  const { handler } = await import('../../../functions/ownedaccesskeys/list.ts')
  const { default: given } = await import('../../../events/ownedaccesskeys/list.json', { with: { type: 'json' } })
  const begun = Promise.withResolvers<void>()
  const client = new Writable({ highWaterMark: 1, write: () => begun.resolve() })
  const event = {
    ...given,
    headers,
    multiValueHeaders: {},
    queryStringParameters: {},
    multiValueQueryStringParameters: {},
    requestContext: {
      ...given.requestContext,
      requestTimeEpoch: Date.now(),
      authorizer: { user: encodeUser(user), principalId: user.name },
    },
  }
  const ended: Promise<unknown> = handler(
    event,
    createResponseStream(() => client),
    { getRemainingTimeInMillis: () => 60_000 },
  )
  ended.catch(() => undefined)
  await begun.promise
  return { ended }
}

// Buffered data must not wait for a slow client indefinitely.
test.each([{}, { 'Accept-Encoding': 'gzip' }])(
  'a client that stops reading is disconnected when its key becomes invalid: %j',
  async (headers) => {
    for (const name of ['a', 'b', 'c', 'd']) {
      // Incompressible data, so that it fills buffers.
      const description = Array.from({ length: 150_000 }, () => String.fromCharCode(33 + Math.random() * 90)).join('')
      await make({ name: `${name}-${Object.keys(headers).length}` }, { user: 'alice', description })
    }
    const { metadata } = await make({ name: 'slow' }, { user: 'alice' })
    const user = { ...alice, key: { ...alice.key, name: 'slow', uid: metadata.uid, generation: 1 } }
    const { ended } = await listAndStall(user, headers)
    let isOver = false
    ended
      .catch(() => undefined)
      .finally(() => {
        isOver = true
      })
    await vi.advanceTimersByTimeAsync(15_000)
    expect(isOver).toBe(false)
    expect((await call('delete', { parameters: at('slow'), body: null })).status).toBe(200)
    await vi.advanceTimersByTimeAsync(15_000)
    await expect(ended).rejects.toThrow()
  },
)
