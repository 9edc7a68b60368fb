import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createResponseStream } from '../../../infra/local/gateway/streaming.ts'
import { encodeUser } from '../../../lib/authentication/usercontext.ts'
import { useFunctions } from '../../support/functions.ts'
import { alice } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, at } = callsOf(functions, accessKeys)

// Only the clock by which the key is asked about; the table answers in real time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A list for a client that takes the first piece of it and no more; resolves with how it ended. */
async function stalled(user: typeof alice, headers: object) {
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

// What waits for a client in buffers is not handed out for as long as it likes.
test.each([{}, { 'Accept-Encoding': 'gzip' }])(
  'a client that takes nothing is cut off with its key: %j',
  async (headers) => {
    for (const name of ['a', 'b', 'c', 'd']) {
      // What does not deflate, so that it fills buffers.
      const description = Array.from({ length: 150_000 }, () => String.fromCharCode(33 + Math.random() * 90)).join('')
      await make({ name: `${name}-${Object.keys(headers).length}` }, { user: 'alice', description })
    }
    const { metadata } = await make({ name: 'slow' }, { user: 'alice' })
    const user = { ...alice, key: { ...alice.key, name: 'slow', uid: metadata.uid, generation: 1 } }
    const { ended } = await stalled(user, headers)
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
