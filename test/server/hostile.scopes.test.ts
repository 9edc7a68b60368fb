/** Tests that a key cannot escape its scope. */
import { describe, expect, test } from 'vitest'
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
})

describe('an administrator’s key with a scope', () => {
  const scope = {
    rules: [
      { resources: [{ group: 'management.platform', resources: ['ownedaccesskeys', 'ownedaccesskeys/status'] }] },
    ],
  }
  const annotated = { metadata: { annotations: { a: 'b' } } }
  const used = { status: { lastActivity: '2020-01-01T00:00:00Z' } }
  const patch = (type: string, body: unknown) => ({
    method: 'PATCH',
    headers: { 'content-type': `application/${type}` },
    body,
  })
  const applied = { ...key('beyond'), ...annotated, metadata: { name: 'beyond', ...annotated.metadata } }

  // threat: users-10
  test('deletes keys beyond its scope, and changes nothing of them', async () => {
    const token = await victims.make('narrow', { user: 'alice', groups: ['system:masters'], scope })
    await victims.make('beyond', { user: 'alice' })
    const path = `${keys}/beyond`
    const { json: before } = await send({ path, token })
    const put = (change: object) => ({ method: 'PUT', body: { ...before, ...change } })
    const metadata = { ...before.metadata, finalizers: ['example.com/a'] }
    await victims.refused(
      [
        { path, ...put({ metadata }) },
        { path, ...patch('merge-patch+json', annotated) },
        { path, ...patch('json-patch+json', [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] }]) },
        { path: `${path}?fieldManager=a&force=true`, ...patch('apply-patch+yaml', applied) },
        { path: `${path}/status`, ...put(used) },
        { path: `${path}/status`, ...patch('merge-patch+json', used) },
        {
          path: `${path}/status`,
          ...patch('json-patch+json', [{ op: 'add', path: '/status', value: used.status }]),
        },
        {
          path: `${path}/status?fieldManager=a&force=true`,
          ...patch('apply-patch+yaml', { ...key('beyond'), ...used }),
        },
        { path: `${path}/rotate`, method: 'POST', body: {} },
      ].map((attack) => ({ ...attack, token })),
      [403],
    )
    expect((await send({ path, token })).json).toEqual(before)
    expect((await send({ path, token, method: 'DELETE' })).status).toBe(200)
  })
})

test('leaves everything of other users unchanged', () => victims.unharmed())
