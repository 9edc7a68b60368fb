/** Tests that users cannot gain privileges or read hidden data. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
      { user: 'root' },
      { user: 'Alice' },
      { user: 'alice ' },
      { user: 'alice\u0000' },
      { user: 'system:admin' },
      { user: 'team:red' },
      { user: '__proto__' },
      { team: 'red' },
      { team: 'alice' },
      { subject: 'alice' },
      { subject: 'bob' },
      { user: 'alice', team: 'red' },
      { user: 'alice', subject: 'bob' },
      { groups: ['system:masters'] },
      { groups: ['dev', 'ops'] },
      { groups: ['team:red'] },
      { groups: ['system:authenticated', 'system:masters'] },
      { groups: ['SYSTEM:MASTERS'] },
      { groups: ['system:masters\u200b'] },
      { groups: [''], user: 'bob' },
      { type: 'Login' },
      { type: 'Reset' },
      { type: 'OIDCRefreshToken' },
      { type: 'NetworkPeer' },
      { type: 'Workspace' },
      { type: 'user' },
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
      { groups: [] },
      { user: 'bob' },
      { user: '' },
      { team: 'red' },
      { subject: 'root' },
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
      { owner: null },
      { access: [{ verbs: ['*'], users: ['bob'] }] },
      { accessPoint: { ingress: { host: 'evil.example.com' } } },
      { accessPoint: null },
      { certificateAuthorityData: 'eA==' },
      { credentialsSecretRef: { secretName: 'p-b/x' } },
      { credentialsSecretRef: { secretName: '../../pepper' } },
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
    const secrets = [
      '../pepper',
      '..',
      'p-b/../../pepper',
      '/pepper',
      'arn:aws:secretsmanager:eu-central-1:000000000000:secret:keyplane/local/pepper',
      'a//b',
      'p-b%2f',
      'x\u0000y',
    ]
    for (const secretName of secrets) {
      const spec = { credentialsSecretRef: { secretName }, accessPoint: { ingress: { host: 'vc.example.com' } } }
      const body = { apiVersion, kind: 'VirtualClusterInstance', metadata: { generateName: 'ref-' }, spec }
      const { json, status } = await send({ method: 'POST', path: instances('p-c'), token: held.admin, body })
      if (status === 422) continue
      const { status: answer, text } = await send({
        method: 'POST',
        path: `${instances('p-c')}/${json.metadata.name}/kubeconfig`,
        token: held.admin,
        body: { spec: { clientCert: true } },
      })
      expect([secretName, answer >= 400, /peppers/.test(text)]).toEqual([secretName, true, false])
      await send({ method: 'DELETE', path: `${instances('p-c')}/${json.metadata.name}`, token: held.admin })
    }
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

  test('returns the same to a correct and a wrong guess in a patch test', async () => {
    const secret = 'connector-data-of-the-identity'
    const made = await send({
      method: 'POST',
      path: keys,
      token: held.alice,
      body: key('guessed', { identity: { connectorData: secret, username: 'a' } }),
    })
    const guess = async (path: string, value: string, then: object[] = []) => {
      const body = [{ op: 'test', path, value }, ...then]
      const { status, text } = await send({
        method: 'PATCH',
        path: `${keys}/guessed`,
        token: held.alice,
        headers: { 'content-type': 'application/json-patch+json' },
        body,
      })
      return [status, text.replaceAll(value, 'VALUE')]
    }
    for (const [path, right] of [
      ['/spec/key', made.json.spec.key],
      ['/spec/identity/connectorData', secret],
    ] as const) {
      const wrong = right.replace(/.$/, '~')
      expect(await guess(path, right)).toEqual(await guess(path, wrong))
      expect((await guess(path, right))[0]).toBe(422)
    }
    const copies = ['/spec/key', '/spec/identity/connectorData'].flatMap((from) =>
      ['copy', 'move'].map((op) => ({ op, from, path: '/spec/description' })),
    )
    for (const operation of copies) {
      const { status, text } = await send({
        method: 'PATCH',
        path: `${keys}/guessed`,
        token: held.alice,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [operation],
      })
      // Like kube-apiserver, a copy from a missing path copies null.
      expect([operation, status]).toEqual([operation, operation.op === 'copy' ? 200 : 422])
      expect(text).not.toContain(secret)
      expect(text).not.toContain(made.json.spec.key)
    }
  })
})

describe('credentials of virtual clusters', () => {
  const ran = join(tmpdir(), `keyplane-hostile-${process.pid}`)
  const config = (user: object, cluster: object = {}, more: object = {}) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
      users: [{ name: 'a', user }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
      ...more,
    })
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', `touch ${ran}`] }

  test.each<[string, string]>([
    ['exec', config({ exec })],
    ['exec', config({ token: 't', exec })],
    [
      'auth-provider',
      config({ 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh', 'cmd-args': `-c "touch ${ran}"` } } }),
    ],
    ['tokenFile', config({ tokenFile: '/etc/passwd' })],
    ['client-certificate', config({ 'client-certificate': '/etc/passwd', 'client-key': '/etc/passwd' })],
    ['certificate-authority', config({ token: 't' }, { 'certificate-authority': '/etc/passwd' })],
    ['insecure-skip-tls-verify', config({ token: 't' }, { 'insecure-skip-tls-verify': true })],
    ['proxy-url', config({ token: 't' }, { 'proxy-url': 'http://169.254.169.254' })],
    ['tls-server-name', config({ token: 't' }, { 'tls-server-name': 'x' })],
    ['username', config({ username: 'a', password: 'b' })],
    ['as', config({ token: 't', as: 'root', 'as-groups': ['system:masters'] })],
    ['server', config({ token: 't' }, { server: 'http://169.254.169.254/latest/meta-data' })],
    ['server', config({ token: 't' }, { server: 'file:///etc/passwd' })],
    ['server', config({ token: 't' }, { server: 'unix:///var/run/docker.sock' })],
    ['token', config({ token: 'a\r\nX-Injected: 1' })],
    ['the secret', `!!js/function 'function(){ require("fs").writeFileSync("${ran}", "") }'`],
    ['the secret', '{"__proto__":{"token":"t"}'],
  ])('that would run or read something (%s) are rejected by name', async (member, secret) => {
    const name = `vc-${Math.abs(hash(member + secret))}`
    const spec = { accessPoint: { ingress: { host: 'vc.example.com' } } }
    await victims.server.make(below.instances('p-d'), below.instance(name, spec))
    await victims.server.keepCredentials(`p-d/${name}`, secret)
    const { status, json, text } = await send({
      method: 'POST',
      path: `${instances('p-d')}/${name}/kubeconfig`,
      token: held.admin,
      body: { spec: { clientCert: true } },
    })
    expect([status, json.reason]).toEqual([503, 'ServiceUnavailable'])
    expect(json.message).toContain(member)
    expect(text).not.toMatch(/root:|169\.254|passwd|touch/)
    expect(existsSync(ran)).toBe(false)
  })

  const hash = (text: string) => [...text].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) | 0, 7)
})

test('attacks leave everything of other users unchanged', () => victims.unharmed())
