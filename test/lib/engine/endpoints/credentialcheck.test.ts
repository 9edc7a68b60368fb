/** Tests that responses stop after their key is revoked, with a fake clock and the real store. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EndpointServices } from '../../../../lib/engine/endpoints/call.ts'
import { listHandler } from '../../../../lib/engine/endpoints/handlers/list.ts'
import type { ApiResponse } from '../../../../lib/engine/endpoints/request.ts'
import { createObject } from '../../../../lib/engine/registry/create.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import { OwnedAccessKey } from '../../../../lib/keys/ownedaccesskey.ts'
import { startDeployment, type TestDeployment } from '../../../support/deployment.ts'
import { answer } from '../../../support/exchange.ts'
import { admin, contextOf } from '../../../support/users.ts'

let deployment: TestDeployment
const store = () => deployment.parts.storeOf(OwnedAccessKey)
/** Enough objects for more than two pieces of text. */
const count = 4

beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
  for (let index = 0; index < count; index++) {
    const object = {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { name: `large-${index}` },
      spec: { user: 'alice', description: 'x'.repeat(150_000) },
    }
    await createObject(store(), { object, secrets: [] }, contextOf(admin))
  }
})
afterAll(() => deployment?.stop())

interface StartedList {
  response: ApiResponse
  /** Advances the clock by some seconds, in which the client reads nothing. */
  pass(seconds: number): Promise<void>
  /** Returns how often the key was read. */
  asked(): number
  /** The timers that are still running. */
  timers: Set<() => void>
}

/** Starts a list with a key that is revoked after `lives` seconds, or that cannot be read from then on. */
async function startList(
  query: Record<string, string>,
  lives: number,
  { slow = 0, unreadable = false } = {},
): Promise<StartedList> {
  let now = 0
  let asked = 0
  const timers = new Set<() => void>()
  const services: EndpointServices = {
    checkAllowed: async () => {},
    allowedGeneration: ({ user }) => user.key.generation,
    explain: () => [],
    watchLimits: { maxSeconds: 120, quietSeconds: 0 },
    async currentGeneration() {
      asked++
      if (now < lives * 1000) return 7
      if (unreadable) throw new StorageError('Unavailable', 'away')
      return undefined
    },
    elapsed: () => now,
    sleep: async (ms) => {
      now += ms
    },
    every(_, act) {
      timers.add(act)
      return () => timers.delete(act)
    },
    openWatch: async () => ({ keep: async () => {}, close: async () => {} }),
  }
  const user = { ...admin, key: { ...admin.key, generation: 7 } }
  const { storage } = store()
  const { response } = await answer(listHandler, {
    store: {
      ...store(),
      storage: {
        ...storage,
        async list(table, request) {
          now += slow * 1000
          return storage.list(table, request)
        },
      },
    },
    user,
    services,
    query,
  })
  return {
    response,
    async pass(seconds) {
      now += seconds * 1000
      for (const act of timers) act()
      await new Promise(setImmediate)
    },
    asked: () => asked,
    timers,
  }
}

const piecesOf = ({ body }: ApiResponse): AsyncIterator<string> =>
  (body as AsyncIterable<string>)[Symbol.asyncIterator]()

describe.each([{}, { limit: '500' }])('a list %j', (query) => {
  test('does not check its key while it is short', async () => {
    const { response, asked, timers } = await startList(query, 100)
    const pieces = await Array.fromAsync(response.body as AsyncIterable<string>)
    expect([JSON.parse(pieces.join('')).items.length, asked(), timers.size]).toEqual([count, 0, 0])
  })

  test('continues while its key is unchanged', async () => {
    const { response, pass, asked, timers } = await startList(query, 1000)
    let text = ''
    for await (const piece of response.body as AsyncIterable<string>) {
      text += piece
      await pass(11)
    }
    expect(JSON.parse(text).items).toHaveLength(count)
    expect(asked()).toBeGreaterThan(2)
    expect([response.cut?.aborted, timers.size]).toEqual([false, 0])
  })

  // threat: use-3
  test('fails when the client reads on after the key is revoked', async () => {
    const { response, pass, timers } = await startList(query, 5)
    const pieces = piecesOf(response)
    expect((await pieces.next()).done).toBe(false)
    await pass(11)
    await expect(pieces.next()).rejects.toThrow('access key has been changed or deleted since the request was allowed')
    expect(timers.size).toBe(0)
  })

  // threat: use-3
  test('disconnects a client that has stopped reading, so that it does not get the buffered data', async () => {
    const { response, pass } = await startList(query, 12)
    await piecesOf(response).next()
    await pass(11)
    expect(response.cut?.aborted).toBe(false)
    await pass(11)
    expect(response.cut?.aborted).toBe(true)
  })

  test('returns 401 when the key is revoked before the first piece', async () => {
    const { response } = await startList(query, 5, { slow: 11 })
    expect(response).toMatchObject({ status: 401, body: expect.stringContaining('"reason":"Unauthorized"') })
  })
})

// threat: use-3
test('the initial events of a watch end when its key is revoked', async () => {
  const { response, pass } = await startList({ watch: 'true' }, 5)
  const lines = piecesOf(response)
  expect((await lines.next()).value).toContain('"ADDED"')
  await pass(11)
  expect([(await lines.next()).done, response.cut?.aborted]).toEqual([true, true])
})

test('the initial events of a watch end with an error event when its key cannot be read', async () => {
  const { response, pass, timers } = await startList({ watch: 'true' }, 5, { unreadable: true })
  const lines = piecesOf(response)
  await lines.next()
  await pass(4)
  expect((await lines.next()).value).toContain('"ADDED"')
  await pass(7)
  const { type, object } = JSON.parse((await lines.next()).value)
  expect([type, object.code, object.details]).toEqual(['ERROR', 503, { retryAfterSeconds: 1 }])
  expect([(await lines.next()).done, timers.size]).toEqual([true, 0])
})
