/** Tests watches of resources without objects: how long they last and how often they send something. */
import { expect, test } from 'vitest'
import type { ApiRequest } from '../../../../../lib/engine/endpoints/request.ts'
import { emptyCollection } from '../../../../../lib/engine/endpoints/watches/emptycollection.ts'
import { Lamp } from '../../../../../lib/engine/example/kinds.ts'
import { endless } from '../../../../support/deadlines.ts'
import { admin } from '../../../../support/users.ts'

const request = (query: Record<string, string>): ApiRequest => ({
  method: 'GET',
  path: '/api/v1/namespaces',
  namespace: '',
  name: '',
  subresource: '',
  query: new Map(Object.entries(query).map(([name, value]) => [name, [value]])),
  headers: {},
  body: new Uint8Array(),
  user: admin,
  requestId: 'one',
  now: new Date(),
  deadline: endless,
})

/** Returns the seconds at which a watch sends something. Time passes only while the watch sleeps. */
async function secondsOf(query: Record<string, string>, quietSeconds = 0): Promise<number[]> {
  let now = 0
  const clock = {
    watchLimits: { maxSeconds: 120, quietSeconds },
    elapsed: () => now,
    openWatch: async () => ({ keep: async () => {}, close: async () => {} }),
    async sleep(ms: number) {
      now += ms
    },
  }
  const { body } = await emptyCollection(request({ watch: '1', ...query }), Lamp, clock)
  const said: number[] = []
  for await (const _ of body as AsyncIterable<string>) said.push(now / 1000)
  return said
}

const bookmarks = { allowWatchBookmarks: 'true' }

// Headers leave with the first byte. White space would be one, too, but clients fail on it when no event follows.
test('a watch sends a bookmark at once, every 20 seconds and at its end, and nothing without bookmarks', async () => {
  expect(await secondsOf(bookmarks)).toEqual([0, 20, 40, 60, 80, 100, 120])
  expect(await secondsOf({})).toEqual([])
})

test('a watch ends after the timeout of its client, and not later than others', async () => {
  expect(await secondsOf({ ...bookmarks, timeoutSeconds: '30' })).toEqual([0, 20, 30])
  expect((await secondsOf({ ...bookmarks, timeoutSeconds: '9999' })).at(-1)).toBe(120)
})

test('a watch ends after the quiet time', async () => expect(await secondsOf(bookmarks, 30)).toEqual([0, 20, 30]))
