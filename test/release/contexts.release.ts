/** Requests that the functions of two releases serve together: one judges the key, the other answers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import { PAIRS, type Releases, startReleases } from './releases.ts'

let releases: Releases
beforeAll(async () => {
  releases = await startReleases()
})
afterAll(() => releases?.stop())

const spec = {
  user: 'alice',
  team: 'dev',
  type: 'User',
  ttl: 86_400,
  scope: { projects: [{ project: 'shop' }], clusters: [{ cluster: 'east' }] },
  identity: { preferredUsername: 'Alice', email: 'alice@example.com' },
}

describe.each(PAIRS)('a request that the %s release judges and the %s release answers', (...pair) => {
  const headers = () => releases.by(pair)

  test('has the same user', async () => {
    const name = `self-${pair.join('-')}`
    const { spec: made } = await releases.make(keys, accessKey(name, spec))
    const call = { method: 'POST', body: {}, token: made.key, headers: headers() }
    const { status, json } = await releases.call(`${management}/selves`, call)
    expect(status).toBe(201)
    expect(json.status).toMatchObject({ accessKey: name, user: { name: 'alice' } })
  })

  test('has the same scope', async () => {
    const { spec: made } = await releases.make(keys, accessKey(`scoped-${pair.join('-')}`, spec))
    const { status, json } = await releases.call(keys, { token: made.key, headers: headers() })
    expect([status, json.message]).toEqual([403, expect.stringContaining('alice')])
  })

  test('of an exchanged key is refused once its trust is closed', async () => {
    const federation = newFederation()
    await openGates(releases.parts, federation)
    const { token } = await createExchangedKey(releases.parts, federation)
    const call = { method: 'POST', body: {}, token, headers: headers() }
    expect((await releases.call(`${management}/selves`, call)).status).toBe(201)
    await openGates(releases.parts, { ...federation, trust: { ...federation.trust, revision: 99 } })
    expect((await releases.call(`${management}/selves`, call)).status).toBe(401)
  })
})

test('both releases have answered', () => {
  for (const release of ['old', 'new'] as const) {
    expect([...releases.ran[release]]).toEqual(
      expect.arrayContaining(['authorizer', 'selves/create', 'ownedaccesskeys/list']),
    )
  }
})
