/** Tests that users cannot gain privileges or read hidden data. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as below from '../support/objects.ts'
import { apiVersion } from '../support/objects.ts'
import { alice, contextOf } from '../support/users.ts'
import { type Attack, instances, isHealthy, key, keys, useVictims, writes } from '../support/victims.ts'

const victims = useVictims()
const { held, send, self, refused } = victims

describe('privileges', () => {
  const groupsOf = ['dev', 'system:authenticated']

  test('cannot be gained by creating a key for others or with more rights', async () => {
    const specs: object[] = [
      { user: 'bob' },
      { user: 'Alice' },
      { user: 'alice\u0000' },
      { user: '__proto__' },
      { team: 'red' },
      { subject: 'alice' },
      { groups: ['system:masters'] },
      { groups: ['SYSTEM:MASTERS'] },
      { groups: ['system:masters\u200b'] },
      { type: 'Login' },
      { type: ['User'] },
    ]
    const posts = specs.map((spec, index) => ({
      method: 'POST',
      path: keys,
      token: held.alice,
      body: key(`grab-${index}`, spec),
    }))
    const applies = specs.map((spec, index) => ({
      method: 'PATCH',
      path: `${keys}/grab-${index}?fieldManager=x&force=true`,
      token: held.alice,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: key(`grab-${index}`, spec),
    }))
    await refused([...posts, ...applies], [400, 403, 422])
  })

  test('cannot be gained from claims in the data of an object', async () => {
    const claims: object[] = [
      {
        identity: {
          userId: 'bob',
          username: 'root',
          groups: ['system:masters', 'ops', 'team:red'],
          email: 'root@example.com',
          extraClaims: { groups: 'system:masters' },
        },
      },
      { parent: 'victim' },
      { oidcProvider: { clientId: 'x', scopes: 'system:masters' } },
      { oidcLogin: { idToken: 'eyJhbGciOiJub25lIn0.eyJncm91cHMiOlsic3lzdGVtOm1hc3RlcnMiXX0.', accessToken: 'x' } },
      { displayName: 'root', description: 'system:masters' },
    ]
    for (const [index, spec] of claims.entries()) {
      const body = {
        ...key(`claim-${index}`, spec),
        status: { owner: 'root', phase: 'Active', lastActivity: '2020-01-01T00:00:00Z' },
      }
      const { status, json } = await send({ method: 'POST', path: keys, token: held.alice, body })
      expect(status).toBe(201)
      const { subject, groups } = await self(json.spec.key)
      expect(['alice', groups.filter((group: string) => !groupsOf.includes(group))]).toEqual([subject, []])
      await refused([{ path: `${keys}/victim`, token: json.spec.key }], [404])
    }
  })

  test('cannot be gained by changing a key', async () => {
    await send({ method: 'POST', path: keys, token: held.alice, body: key('mine', { user: 'alice', groups: ['dev'] }) })
    const readLive = async () => (await send({ path: `${keys}/mine`, token: held.alice })).json
    const changes: Record<string, unknown>[] = [
      { groups: ['dev', 'system:masters'] },
      { user: 'bob' },
      { type: 'Login' },
    ]
    for (const change of changes) {
      const { spec } = await readLive()
      for (const attack of writes('mine', await readLive(), { ...spec, ...change }))
        await send({ ...attack, token: held.alice })
      const after = await readLive()
      expect([
        change,
        after.spec.user,
        after.spec.groups ?? [],
        after.spec.team,
        after.spec.subject,
        after.spec.type,
      ]).toEqual([change, 'alice', ['dev'], undefined, undefined, undefined])
    }
  })

  test('end for an open watch when the value or the scope of its key changes', async () => {
    const { metadata } = await victims.server.make(below.keys, key('watching', { user: 'alice', groups: ['dev'] }))
    const { parts } = victims.server
    const generation = () => parts.keyGeneration(contextOf({ ...alice, key: { ...metadata, type: 'User' } }))
    const patchAndRead = async (body: object) => {
      const headers = { 'content-type': 'application/merge-patch+json' }
      const { status } = await send({ method: 'PATCH', path: `${keys}/watching`, token: held.alice, headers, body })
      return [status, await generation()]
    }
    expect(await generation()).toBe(1)
    expect(await patchAndRead({ metadata: { labels: { a: 'b' } } })).toEqual([200, 1])
    expect(await patchAndRead({ spec: { key: randomBytes(24).toString('hex') } })).toEqual([200, 2])
    expect(await patchAndRead({ spec: { scope: {} } })).toEqual([200, 3])
    expect(await patchAndRead({ spec: { disabled: true } })).toEqual([200, undefined])
    expect((await send({ method: 'DELETE', path: `${keys}/watching`, token: held.alice })).status).toBe(200)
  })

  test('do not cover the keys of others with any verb', async () => {
    const patch = (type: string, body: unknown, name: string, query = '') => ({
      method: 'PATCH',
      path: `${keys}/${name}${query}`,
      headers: { 'content-type': `application/${type}` },
      body,
    })
    const attacks = ['victim', 'of-team', 'of-subject', 'auditor', 'dead'].flatMap((name) => [
      { path: `${keys}/${name}` },
      { path: `${keys}/${name}/status` },
      { method: 'PUT', path: `${keys}/${name}`, body: key(name, { user: 'alice' }) },
      {
        method: 'PUT',
        path: `${keys}/${name}/status`,
        body: key(name, {}, { status: { lastActivity: '2020-01-01T00:00:00Z' } }),
      },
      patch('merge-patch+json', { spec: { user: 'alice' } }, name),
      patch('merge-patch+json', { spec: { key: 'a-key-of-my-own-that-is-long-enough' } }, name),
      patch('json-patch+json', [{ op: 'test', path: '/spec/user', value: 'bob' }], name),
      patch('json-patch+json', [{ op: 'remove', path: '/metadata/finalizers' }], name),
      { method: 'DELETE', path: `${keys}/${name}` },
      {
        method: 'DELETE',
        path: `${keys}/${name}?propagationPolicy=Foreground&gracePeriodSeconds=0`,
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: {} },
      },
    ])
    await refused(
      attacks.flatMap((attack) => [held.alice, held.keeper].map((token) => ({ ...attack, token }))),
      [404],
    )
    const applied = ['victim', 'of-team'].map((name) =>
      patch('apply-patch+yaml', key(name, { user: 'alice' }), name, '?fieldManager=x&force=true'),
    )
    await refused(
      applied.map((attack) => ({ ...attack, token: held.alice })),
      [404],
    )
    for (const query of ['', '?fieldSelector=metadata.name%3Dvictim', '?fieldSelector=spec.user%3Dbob', '?dryRun=All'])
      await send({
        method: 'DELETE',
        path: `${keys}${query}${query ? '&' : '?'}labelSelector=nothing`,
        token: held.alice,
      })
    await send({ method: 'DELETE', path: `${keys}?fieldSelector=metadata.name%3Dvictim`, token: held.alice })
  })

  test('of the owner of an instance do not cover its connection settings', async () => {
    const path = `${instances('p-a')}/x`
    const live = (await send({ path, token: held.alice })).json
    const changes = [
      { owner: { user: 'alice', team: 'red' } },
      { access: [{ verbs: ['*'], users: ['bob'] }] },
      { accessPoint: { ingress: { host: 'evil.example.com' } } },
      { credentialsSecretRef: { secretName: 'p-b/x' } },
    ]
    const attacks = changes.flatMap((change): Attack[] => [
      { method: 'PUT', path, token: held.alice, body: { ...live, spec: { ...live.spec, ...change } } },
      {
        method: 'PATCH',
        path,
        token: held.alice,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: change },
      },
      {
        method: 'PATCH',
        path: `${path}?fieldManager=x&force=true`,
        token: held.alice,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { apiVersion, kind: 'VirtualClusterInstance', metadata: { name: 'x' }, spec: change },
      },
      {
        method: 'PATCH',
        path: `${path}/status`,
        token: held.alice,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: change, status: { phase: 'x' } },
      },
    ])
    for (const attack of attacks) expect(isHealthy(await send(attack))).toBe(true)
    expect((await send({ path, token: held.admin })).json.spec).toEqual(live.spec)
  })
})

describe('a hidden object', () => {
  test('is not found by selectors', async () => {
    const fields = [
      'spec.key',
      'spec.identity.connectorData',
      'spec.oidcLogin.idToken',
      'metadata.uid',
      'spec',
      'internal',
      'credential',
      '__proto__',
      'constructor.name',
      'spec.groups',
    ]
    await refused(
      fields.flatMap((field) =>
        ['', '&watch=1'].map((more) => ({ path: `${keys}?fieldSelector=${field}%3Dx${more}`, token: held.alice })),
      ),
      [400],
    )
  })
})

test('attacks leave everything of other users unchanged', () => victims.unharmed())
