/** Checks streamed responses: lists and watches. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Check, keyObject, keys, withKey } from './check.ts'

/** Well below the 30 s after which clients give up, and above the slowest cold start. */
const SOON_MS = 10_000

/** Returns the result with the time that it took. */
async function measureTime<T>(work: Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const began = performance.now()
  const result = await work
  return { result, milliseconds: performance.now() - began }
}

export const streams: readonly Check[] = [
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
    name: 'a compressed list of more than 128 KB arrives undamaged',
    emulated: false,
    run(client) {
      // Random, so that it is large when compressed too.
      const text = randomBytes(100_000).toString('hex')
      const large = keyObject({ user: 'smoke' }, { annotations: { smoke: text } })
      return withKey(client, large, async ({ name }) => {
        for (const acceptEncoding of ['gzip', 'identity']) {
          const answer = await client.call(`${keys}?fieldSelector=metadata.name%3D${name}`, { acceptEncoding })
          assert.equal(answer.status, 200, answer.text.slice(0, 1000))
          const encoding = answer.headers['content-encoding'] ?? 'identity'
          assert.ok(
            [acceptEncoding, 'identity'].includes(encoding),
            `${encoding} for Accept-Encoding ${acceptEncoding}`,
          )
          assert.equal(answer.json?.items[0]?.metadata.annotations.smoke, text, `damaged, ${encoding}`)
        }
      })
    },
  },
  {
    name: 'a HEAD of a list has headers and no body, also with watch',
    emulated: false,
    async run(client) {
      for (const query of ['?limit=1', '?watch=1&timeoutSeconds=60']) {
        const { result, milliseconds } = await measureTime(client.call(keys + query, { method: 'HEAD' }))
        assert.deepEqual([query, result.status, result.text], [query, 200, ''])
        assert.ok(milliseconds < SOON_MS, `the answer to ${query} came after ${Math.round(milliseconds)} ms`)
      }
    },
  },
  {
    name: 'the headers of a silent watch arrive within seconds',
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name, resourceVersion }) => {
        const only = `fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`
        const quiet = 'watch=1&allowWatchBookmarks=true&timeoutSeconds=60'
        const { result, milliseconds } = await measureTime(client.open(`${keys}?${quiet}&${only}`))
        result.close()
        assert.equal(result.status, 200)
        assert.ok(milliseconds < SOON_MS, `they came after ${Math.round(milliseconds)} ms`)
      }),
  },
  {
    name: 'a watch shows a change while it is open',
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name, value, resourceVersion }) => {
        const began = performance.now()
        const query = `watch=1&timeoutSeconds=60&resourceVersion=${resourceVersion}`
        const watch = await client.open(`${keys}?${query}`, { token: value })
        const patch = client.call(`${keys}/${name}`, {
          method: 'PATCH',
          body: { metadata: { labels: { smoke: 'true' } } },
          type: 'application/merge-patch+json',
        })
        const [{ value: line }, changed] = await Promise.all([watch.lines().next(), patch])
        watch.close()
        assert.equal(changed.status, 200, changed.text)
        const event = JSON.parse(line ?? '{}')
        assert.equal(event.type, 'MODIFIED', line ?? 'the watch ended')
        assert.equal(event.object.metadata.name, name)
        assert.ok(performance.now() - began < 30_000, 'the event came with the end of the watch only')
      }),
  },
  {
    name: 'a long watch ends with its last event, and cleanly',
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name, resourceVersion }) => {
        const only = `fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`
        const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=${client.watchSeconds}&${only}`
        const watch = await client.open(`${keys}?${query}`)
        assert.equal(watch.status, 200)
        const events: string[] = []
        for await (const line of watch.lines()) events.push(JSON.parse(line).type)
        assert.equal(events.at(-1), 'BOOKMARK', `the events were ${events.join(', ') || 'none'}`)
      }),
  },
]
