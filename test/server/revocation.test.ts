/**
 * Tests revocation: a request that begins after the answer to a change of its key never uses the earlier state of the key,
 * whatever happens concurrently.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { credentialItemKey } from '../../lib/authentication/credential.ts'
import { testAuthority } from '../lib/kubeconfig/authority.ts'
import { startFaultyCluster } from '../lib/kubeconfig/faultycluster.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import type { Answer, Call } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({}, { unthrottled: true })
  const host = 'vc.example.com'
  await server.make(instances('p-a'), instance('x', { owner: { user: 'alice' }, accessPoint: { ingress: { host } } }))
  await server.make(keys, accessKey('other', { user: 'alice' }))
}, 120_000)
afterAll(() => server?.stop())

const merge = (body: object): Call => ({
  method: 'PATCH',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/merge-patch+json' },
})
const change = (name: string, spec: object): Promise<Answer> => server.call(`${keys}/${name}`, merge({ spec }))
const self = (token: string): Promise<Answer> =>
  server.call(`${management}/selves`, { method: 'POST', body: {}, token })
const value = (text: string): string => `value-of-${text}`.padEnd(40, '.')

let count = 0
async function createKey(metadata: object = {}): Promise<{ name: string; token: string }> {
  const { spec, metadata: own } = await server.make(keys, accessKey(`key-${++count}`, { user: 'alice' }, metadata))
  return { name: own.name, token: spec.key }
}

/** Repeatable requests that the key allows. */
const uses: Record<string, (name: string) => [path: string, call: Call]> = {
  get: (name) => [`${keys}/${name}`, {}],
  list: () => [keys, {}],
  create: () => [keys, { method: 'POST', body: accessKey('', {}, { generateName: 'made-' }) }],
  patch: () => [`${keys}/other`, merge({ metadata: { annotations: { at: `${++count}` } } })],
  delete: () => [`${keys}?fieldSelector=metadata.name%3Dnone`, { method: 'DELETE' }],
  token: () => [`${management}/directclusterendpointtokens`, { method: 'POST', body: {} }],
  kubeconfig: () => [`${instances('p-a')}/x/kubeconfig`, { method: 'POST', body: {} }],
}

const changes: [string, number, object, (name: string) => Promise<Answer>][] = [
  ['disabled', 401, {}, (name) => change(name, { disabled: true })],
  ['rotated', 401, {}, (name) => change(name, { key: value(name) })],
  ['narrowed', 403, {}, (name) => change(name, { scope: { clusters: [{ cluster: 'eu' }] } })],
  ['deleted', 401, {}, (name) => server.call(`${keys}/${name}`, { method: 'DELETE' })],
  [
    'deleted, and held by a finalizer',
    401,
    { finalizers: ['example.com/hold'] },
    (name) => server.call(`${keys}/${name}`, { method: 'DELETE' }),
  ],
]

describe.each(changes)('a key that is %s', (_, refused, metadata, end) => {
  test.each(Object.keys(uses))('is refused while it is used to %s', async (use) => {
    const { name, token } = await createKey(metadata)
    let isOver = false
    const after: number[] = []
    /** Uses the key continuously until three uses have begun after the change. */
    async function user(begun: () => void): Promise<void> {
      for (let late = 0; late < 3; ) {
        const began = isOver
        const [path, call] = uses[use]?.(name) ?? ['', {}]
        const { status } = await server.call(path, { ...call, token })
        if (began) after.push(status)
        if (began) late++
        begun()
      }
    }
    const ready: Promise<void>[] = []
    const users = [1, 2, 3].map(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      ready.push(promise)
      return user(resolve)
    })
    await Promise.all(ready)
    expect((await end(name)).status).toBe(200)
    isOver = true
    await Promise.all(users)
    expect(after).toEqual(Array.from({ length: 9 }, () => refused))
  })
})

// The bearer of the key tries to undo the change continuously, so that a request is always in flight.
test.each<[string, object, object, (spec: { disabled?: boolean; scope?: object }) => unknown]>([
  ['disabled', { disabled: true }, { disabled: false }, ({ disabled }) => disabled],
  ['narrowed', { scope: { clusters: [{ cluster: 'eu' }] } }, { scope: null }, ({ scope }) => scope !== undefined],
])('a key that is %s stays so, whatever it requests', async (_, spec, undo, holds) => {
  const { name, token } = await createKey()
  let isOver = false
  const ready: Promise<void>[] = []
  const users = [1, 2, 3, 4].map(async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ready.push(promise)
    for (let late = 0; late < 3; ) {
      if (isOver) late++
      const description = `${++count}`
      await server.call(`${keys}/${name}`, { ...merge({ spec: { ...undo, description } }), token })
      resolve()
    }
  })
  await Promise.all(ready)
  expect((await change(name, spec)).status).toBe(200)
  isOver = true
  await Promise.all(users)
  expect(holds((await server.call(`${keys}/${name}`)).json.spec)).toBe(true)
})

test('after concurrent rotations one value works and no earlier one does', async () => {
  const { name, token } = await createKey()
  const values = Array.from({ length: 10 }, (_, index) => value(`${name}-${index}`))
  const answers = await Promise.all(values.map((key) => change(name, { key })))
  expect(answers.map(({ status }) => status)).toEqual(values.map(() => 200))
  const alive = await Promise.all([token, ...values].map(async (key) => (await self(key)).status))
  expect(alive.toSorted()).toEqual([201, ...values.map(() => 401)])
  expect(alive[0]).toBe(401)
})

test('a key that is disabled and rotated concurrently is invalid with both values', async () => {
  for (let round = 0; round < 5; round++) {
    const { name, token } = await createKey()
    const rotate = server.call(`${keys}/${name}`, { ...merge({ spec: { key: value(name) } }), token })
    await Promise.all([rotate, change(name, { disabled: true }), self(token)])
    const alive = await Promise.all([token, value(name)].map(async (key) => (await self(key)).status))
    expect([(await server.call(`${keys}/${name}`)).json.status.phase, alive]).toEqual(['Disabled', [401, 401]])
  }
})

// A certificate cannot be revoked, and a virtual cluster may sign it slowly.
test('a certificate that is signed after its key was deleted is not returned', async () => {
  const { name, token } = await createKey()
  const authority = await testAuthority()
  const cluster = await startFaultyCluster({
    authority,
    plays: {
      async approve({ proceed }) {
        await server.call(`${keys}/${name}`, { method: 'DELETE' })
        await proceed()
      },
    },
  })
  try {
    const credentials = { ...cluster.credentials, certificateAuthority: authority.certificate }
    await server.keepCredentials('p-a/x', kubeConfigFile({ name: 'manager', ...credentials }))
    const body = { spec: { clientCert: true } }
    const { status, json } = await server.call(`${instances('p-a')}/x/kubeconfig`, { method: 'POST', body, token })
    expect([status, json.message]).toEqual([
      401,
      'access key has been changed or deleted since the request was allowed',
    ])
  } finally {
    await cluster.close()
  }
})

test.each([
  ['deleted', (name: string) => server.call(`${keys}/${name}`, { method: 'DELETE' })],
  ['rotated', (name: string) => change(name, { key: value(name) })],
])('recording a use after the key was %s restores nothing', async (_, end) => {
  const { name, token } = await createKey()
  const { parts } = server
  const used = await parts.authenticate(token)
  expect((await end(name)).status).toBe(200)
  if ('touch' in used) await used.touch()
  expect(used).toHaveProperty('touch')
  for (const hash of await parts.hashes(token)) {
    const { pk, sk } = credentialItemKey(hash)
    expect(await parts.storage.getCompanion(pk, sk)).toBeUndefined()
  }
  expect((await self(token)).status).toBe(401)
})
