/** Tests that a key cannot escape its scope. */
import { describe, expect, test } from 'vitest'
import { apiVersion } from '../support/objects.ts'
import { instances, isHealthy, key, keys, management, runInTurns, useVictims, writes } from '../support/victims.ts'

const victims = useVictims()
const { held, send, self } = victims

describe('a key with a scope', () => {
  /** Another key like `keeper`. */
  async function fresh(spec: object) {
    const body = { ...key(''), metadata: { generateName: 'kept-' }, spec }
    const { json } = await send({ method: 'POST', path: keys, token: held.admin, body })
    const { key: token } = json.spec
    return { metadata: json.metadata, token }
  }

  /** Requests outside its scope. */
  const statusesOutside = (token: string) =>
    Promise.all(
      [`${instances('p-a')}/x`, `${management}/virtualclusterinstances`].map(
        async (path) => (await send({ path, token })).status,
      ),
    )

  test.each<[string, (spec: Record<string, unknown>) => Record<string, unknown>]>([
    ['without a scope', ({ scope: _, ...spec }) => spec],
    ['with null', (spec) => ({ ...spec, scope: null })],
    ['with an empty rule', (spec) => ({ ...spec, scope: { rules: [{}] } })],
    [
      'with every list',
      (spec) => ({
        ...spec,
        scope: {
          projects: [{ project: '*' }],
          clusters: [{ cluster: '*' }],
          roles: [{ role: 'agent' }, { role: 'vcluster' }, { role: 'platformCLI' }],
          allowPlatformCli: true,
        },
      }),
    ],
    ['with a list of scopes', (spec) => ({ ...spec, scope: [] })],
    ['with a prototype', (spec) => ({ ...spec, scope: JSON.parse('{"__proto__":{"rules":[{}]}}') })],
    ['without an end', ({ ttl: _, ...spec }) => spec],
    ['with a later end', (spec) => ({ ...spec, ttl: 7200 })],
    ['with an end that moves', (spec) => ({ ...spec, ttlAfterLastActivity: true })],
    ['of somebody else', (spec) => ({ ...spec, user: 'bob' })],
  ])('keeps its limits: %s', async (_, change) => {
    const { spec } = (await send({ path: `${keys}/keeper`, token: held.keeper })).json
    const { metadata } = await fresh(spec)
    await runInTurns([...writes(metadata.name, { metadata, spec }, change(spec)).keys()], async (index) => {
      const { metadata, token } = await fresh(spec)
      const attack = writes(metadata.name, { metadata, spec }, change(spec))[index]
      if (!attack) throw new Error('as many as before')
      const reply = await send({ ...attack, token })
      const { method, headers, path } = attack
      expect([method, headers, path, isHealthy(reply)]).toEqual([method, headers, path, true])
      if (reply.status >= 300) return
      expect(await statusesOutside(token)).toEqual([403, 403])
      const { user, groups } = await self(token)
      expect([user.name, groups]).toEqual(['alice', expect.not.arrayContaining(['system:masters'])])
      const { status } = (await send({ path: `${keys}/${metadata.name}`, token: held.admin })).json
      const end = Date.parse(metadata.creationTimestamp) + 3_600_000
      expect([status.owner, Date.parse(status.expirationTimestamp)]).toEqual(['alice', end])
    })
  })

  test('creates no key without its scope, by POST or by apply', async () => {
    const scopes = [
      undefined,
      null,
      {},
      { rules: [{}] },
      { projects: [{ project: '*' }] },
      { roles: [{ role: 'platformCLI' }] },
    ]
    for (const [index, scope] of scopes.entries()) {
      const spec = { user: 'alice', ttl: 600, ...(scope !== undefined && { scope }) }
      const posted = await send({ method: 'POST', path: keys, token: held.keeper, body: key(`made-${index}`, spec) })
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      const applied = await send({
        method: 'PATCH',
        path: `${keys}/applied-${index}?fieldManager=x&force=true`,
        token: held.keeper,
        headers,
        body: key(`applied-${index}`, spec),
      })
      // An apply rejects null where a create drops it.
      for (const { status, json } of scope === null ? [posted] : [posted, applied]) {
        expect([status, json.message]).toEqual([201, undefined])
        expect(await statusesOutside(json.spec.key)).toEqual([403, 403])
        // A key that it creates cannot create one either.
        const child = await send({
          method: 'POST',
          path: keys,
          token: json.spec.key,
          body: { ...key('', { ttl: 60 }), metadata: { generateName: 'child-' } },
        })
        if (child.status === 201) expect(await statusesOutside(child.json.spec.key)).toEqual([403, 403])
      }
    }
  })

  test('creates no token without its scope', async () => {
    const { scope } = (await send({ path: `${keys}/keeper`, token: held.keeper })).json.spec
    for (const spec of [{}, { scope: { clusters: [{ cluster: '*' }] } }, { scope: { rules: [{}] } }]) {
      const path = `${management}/directclusterendpointtokens`
      const { status, json } = await send({ method: 'POST', path, token: held.keeper, body: { spec } })
      expect(status).toBe(201)
      const [, claims = ''] = json.status.token.split('.')
      const { [apiVersion.replace('/v1', '')]: own } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      expect(JSON.parse(own.scopes)[0]).toEqual(scope)
    }
  })

  test('does not change keys with wider scopes', async () => {
    for (const name of ['alice', 'ci', 'reader']) {
      const live = (await send({ path: `${keys}/${name}`, token: held.keeper })).json
      const { spec } = live
      for (const next of [
        { ...spec, disabled: true },
        { ...spec, scope: { rules: [{}] } },
        { ...spec, key: 'a-key-of-my-own-that-is-long-enough' },
        { ...spec, description: 'x' },
      ])
        for (const attack of writes(name, live, next)) {
          const { status } = await send({ ...attack, token: held.keeper })
          expect([attack, [200, 400, 403, 404, 409, 415, 422].includes(status)]).toEqual([attack, true])
        }
      expect((await send({ path: `${keys}/${name}`, token: held.admin })).json.spec).toEqual(spec)
    }
    expect((await self(held.alice)).accessKey).toBe('alice')
  })
})

test('leaves everything of other users unchanged', () => victims.unharmed())
