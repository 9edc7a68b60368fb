/** Tests the limit on open watches of a key. */
import https from 'node:https'
import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { watchCounter } from '../../lib/server/openwatches.ts'
import { accessKey, keys } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'
import { alice, contextOf } from '../support/users.ts'

const server = useServer({ WATCHES_PER_KEY: '2' })

let uids = 0
let ids = 0
/** Returns how many watches a key has open, by default one of alice. */
const openOf = async (uid: string, owner = 'alice') => {
  const { items } = await server.parts.storage.queryCompanions(`watches#user:${owner}`)
  return items.filter(({ sk }) => sk.startsWith(`${uid}#`)).length
}

/** Returns a user with a key of its own. */
const holder = (owner = `owner-${uids++}`): UserInfo => ({
  ...alice,
  name: owner,
  identity: `user:${owner}`,
  key: { ...alice.key, uid: `uid-${uids++}` },
})

describe('a key', () => {
  const start = Date.parse('2026-11-21T12:00:00Z')
  let now = start
  /** Returns the watches of a new key with a limit of two. The test controls the time. */
  function countWatches() {
    now = start
    const { storage } = server.parts
    const open = watchCounter({ storage, most: 2, now: () => now, uuid: () => `id-${ids++}` })
    const user = holder()
    return { open: () => open(contextOf(user)), uid: user.key.uid, owner: user.name }
  }

  test('has at most the allowed number of open watches, and can open another when one ends', async () => {
    const { open, uid, owner } = countWatches()
    const first = await open()
    await open()
    await expect(open()).rejects.toMatchObject({
      status: {
        code: 429,
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 10 },
        message: 'access key "key-of-alice" already has 2 open watches, which is the limit (setting watches-per-key)',
      },
    })
    expect(await openOf(uid, owner)).toBe(2)
    await first.close()
    await open()
    await expect(open()).rejects.toThrow('2 open watches')
  })

  // threat: gateway-17
  test('cannot exceed the limit by opening many watches at once', async () => {
    const { open, uid, owner } = countWatches()
    const opened = await Promise.allSettled(Array.from({ length: 12 }, open))
    const many = opened.filter(({ status }) => status === 'fulfilled').length
    expect(many).toBeLessThanOrEqual(2)
    expect(await openOf(uid, owner)).toBe(many)
  })

  // A function may be killed together with its watches.
  test('can open others when the first ones are silent for a minute', async () => {
    const { open } = countWatches()
    const kept = await open()
    await open()
    now += 45_000
    await kept.keep()
    now += 16_000
    await open()
    await expect(open()).rejects.toThrow('2 open watches')
  })

  test('renews the record of a watch every half minute, not on each check', async () => {
    const { open, owner } = countWatches()
    const { keep } = await open()
    const until = async () =>
      (await server.parts.storage.queryCompanions(`watches#user:${owner}`)).items[0]?.attributes.until
    const first = await until()
    now += 29_000
    await keep()
    expect(await until()).toBe(first)
    now += 1_000
    await keep()
    expect(await until()).toBe(Number(first) + 30_000)
  })

  test('is counted separately from other keys, and not at all with a limit of 0', async () => {
    const { storage } = server.parts
    const open = (most: number) => watchCounter({ storage, most, now: () => now, uuid: () => `id-${ids++}` })
    const other = holder()
    await open(1)(contextOf(other))
    await expect(open(1)(contextOf(other))).rejects.toThrow('1 open watches')
    await open(1)(contextOf(holder(other.name)))
    await open(0)(contextOf(other))
    expect(await openOf(other.key.uid, other.name)).toBe(1)
  })

  test('shares the watches of its owner, who has three times as many', async () => {
    const { storage } = server.parts
    const open = watchCounter({ storage, most: 2, now: () => now, uuid: () => `id-${ids++}` })
    const owner = holder().name
    for (let key = 0; key < 3; key++) {
      const context = contextOf(holder(owner))
      await open(context)
      await open(context)
    }
    const fourth = contextOf(holder(owner))
    const message =
      'the access keys of this owner already have 6 open watches, 3 times as many as one key may have, which is the limit (setting watches-per-key)'
    await expect(open(fourth)).rejects.toMatchObject({ status: { code: 429, message } })
    await open(contextOf(holder()))
    now += 61_000
    await open(fourth)
  })
})

describe('the server', () => {
  /** Starts a watch that lasts until `end`. */
  async function watch(path: string, token: string): Promise<{ status: number; end(): void }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; end(): void }>()
    const sent = https.get(`${server.base}${path}`, {
      ca: server.certificateAuthority,
      headers: { authorization: `Bearer ${token}` },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.on('error', () => undefined)
      response.once('data', () => resolve({ status: response.statusCode ?? 0, end: () => sent.destroy() }))
    })
    return promise
  }

  // Watches of kinds without objects occupy a function too.
  // threat: gateway-17
  test('counts watches of all kinds until they end', async () => {
    const { spec, metadata } = await server.make(keys, accessKey('watching', { user: 'alice' }))
    const query = '?watch=1&timeoutSeconds=600&allowWatchBookmarks=1'
    const begun = await Promise.all([watch(`${keys}${query}`, spec.key), watch(`/api/v1/namespaces${query}`, spec.key)])
    expect([begun.map(({ status }) => status), await openOf(metadata.uid)]).toEqual([[200, 200], 2])
    for (const path of [keys, '/api/v1/namespaces', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions']) {
      const { status, headers, json } = await server.call(`${path}${query}`, { token: spec.key })
      expect([status, headers['retry-after'], json.message]).toEqual([429, '10', expect.stringContaining('"watching"')])
    }
    expect((await server.call(keys, { token: spec.key })).status).toBe(200)
    for (const { end } of begun) end()
    await expect.poll(() => openOf(metadata.uid)).toBe(0)
    expect((await server.call(`${keys}?watch=1&timeoutSeconds=1`, { token: spec.key })).status).toBe(200)
    expect(await openOf(metadata.uid)).toBe(0)
  })

  // Proxies and link checkers ask for the headers only. A function would watch for nobody.
  // threat: gateway-17
  test('opens no watch for HEAD, whatever the query', async () => {
    const { spec, metadata } = await server.make(keys, accessKey('heading', { user: 'alice' }))
    const head = (path: string) => server.call(path, { method: 'HEAD', token: spec.key })
    for (const path of [keys, '/api/v1/namespaces', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions']) {
      for (const query of ['', '?watch=1', '?watch=true&allowWatchBookmarks=true&timeoutSeconds=3600']) {
        const { status, headers, text } = await head(`${path}${query}`)
        expect([path, query, status, headers['content-type'], text]).toEqual([path, query, 200, 'application/json', ''])
      }
      expect((await head(`${path}?watch=1&resourceVersion=x`)).status).toBe(400)
    }
    expect(await openOf(metadata.uid)).toBe(0)
  })

  test('does not count a watch that does not start', async () => {
    const { spec, metadata } = await server.make(keys, accessKey('refused', { user: 'alice' }))
    const refused = await server.call(`${keys}?watch=1&resourceVersion=x`, { token: spec.key })
    expect([refused.status, await openOf(metadata.uid)]).toEqual([400, 0])
  })
})
