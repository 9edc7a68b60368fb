/** Tests watches of resources without objects: how long they last and how often they send something. */
import { expect, test } from 'vitest'
import type { ApiRequest } from '../../../../lib/endpoints/request.ts'
import { emptyCollection } from '../../../../lib/endpoints/watches/emptycollection.ts'
import { endless } from '../../../support/deadlines.ts'
import { admin } from '../../../support/users.ts'

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
async function secondsOf(query: Record<string, string>): Promise<number[]> {
  let now = 0
  const clock = {
    elapsed: () => now,
    openWatch: async () => ({ keep: async () => {}, close: async () => {} }),
    async sleep(ms: number) {
      now += ms
    },
  }
  const { body } = await emptyCollection(request({ watch: '1', ...query }), { apiVersion: 'v1', kind: 'One' }, clock)
  const said: number[] = []
  for await (const _ of body as AsyncIterable<string>) said.push(now / 1000)
  return said
}

// Clients drop a stream that is silent for 30 s, and API Gateway cuts one after 300 s.
test('a watch sends something every 20 seconds and ends after 280 seconds', async () => {
  expect(await secondsOf({})).toEqual(Array.from({ length: 14 }, (_, index) => 20 * (index + 1)))
})

test('a watch ends after the timeout of its client', async () => {
  expect(await secondsOf({ timeoutSeconds: '30' })).toEqual([20, 30])
  expect((await secondsOf({ timeoutSeconds: '9999' })).at(-1)).toBe(280)
})
