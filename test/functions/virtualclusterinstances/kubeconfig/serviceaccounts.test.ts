/**
 * Tests kube configs of virtual clusters whose service accounts issue the tokens, where they differ from those of connected clusters:
 * the credentials, what a request may ask for, and how the Secret is found again.
 */
import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { startAccountCluster } from '../../../support/accountcluster.ts'
import { useFunctions } from '../../../support/functions.ts'
import { withScopes } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'
import { accessKeys, callsOf, instances } from '../../stored/fixtures.ts'

const functions = useFunctions()
const calls = callsOf(functions, instances)
const keys = callsOf(functions, accessKeys)
const host = 'preview.example.com'
let count = 0

/** Starts a virtual cluster, registers it and makes a key of alice. */
async function begin(spec: JsonObject = {}) {
  const cluster = await startAccountCluster()
  const name = `v${++count}`
  await functions.get().services.setSecret(`keyplane/local/virtualclusters/p-web/${name}`, cluster.kubeConfig)
  const accounts = { tokens: 'ServiceAccounts', owner: { user: 'alice' }, accessPoint: { ingress: { host } } }
  await calls.make({ name }, { ...accounts, ...spec })
  const made = await keys.make({ name: `key-${name}` }, { user: 'alice' })
  const authenticated = await functions.get().parts.authenticate(String(made.spec.key))
  if (!('user' in authenticated)) throw new Error('the key gives no access')
  return { cluster, name, user: { ...authenticated.user, credential: authenticated.credential } }
}

const fetch = (name: string, user: UserInfo, spec: object = {}, more: object = {}) =>
  functions.invoke('virtualclusterinstances/kubeconfig/create', {
    user,
    parameters: calls.at(name),
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: { apiVersion: 'management.platform/v1', kind: 'VirtualClusterInstanceKubeConfig', metadata: {}, spec },
    ...more,
  })

const configIn = async (answer: { status: number; text: string; json: { status: { kubeConfig: string } } }) => {
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return parseYaml(answer.json.status.kubeConfig)
}
const tokenIn = async (answer: Parameters<typeof configIn>[0]): Promise<string> =>
  (await configIn(answer)).users[0].user.token

const bound = async ({ key: { uid } }: UserInfo) =>
  (await functions.get().store.all()).filter(({ pk }) => pk === `bound#${uid}`)

/** Runs what an event and the next minute run. */
async function endings(): Promise<void> {
  await functions.run('lifecycle')
  await functions.run('boundsecrets')
}

describe('a kube config', () => {
  test('has a token of the account in the virtual cluster, its address, and the authority in the secret', async () => {
    const { cluster, name, user } = await begin()
    const answer = await fetch(name, user, { certificateTTL: 3600 })
    const config = await configIn(answer)
    expect(cluster.accepts(config.users[0].user.token)).toBe(true)
    expect(config.clusters[0]).toMatchObject({
      name: `${name}.p-web@keyplane.example.com`,
      cluster: { server: `https://${host}`, 'certificate-authority-data': expect.any(String) },
    })
    expect(String(answer.headers.warning)).toContain('service account keyplane/user.alice')
    expect(cluster.accepts(await tokenIn(await fetch(name, user, { certificateTTL: 3600 })))).toBe(true)
    expect([cluster.calls.length, cluster.secrets.size]).toEqual([3, 1])
    const { uid } = answer.json.metadata
    const sk = expect.stringMatching(`^virtualclusters/p-web/${name}/${uid}#`)
    expect(await bound(user)).toEqual([expect.objectContaining({ sk, account: 'user.alice', namespace: 'keyplane' })])
  })

  test('takes the account from the namespace of the instance, and says which one is missing', async () => {
    const { cluster, name, user } = await begin({ serviceAccounts: { namespace: 'users' } })
    cluster.namespaces.add('users')
    const answer = await fetch(name, user)
    expect([answer.status, answer.json.message]).toEqual([
      422,
      expect.stringContaining('kubectl create serviceaccount user.alice -n users;'),
    ])
    expect(cluster.secrets.size).toBe(0)
  })

  test('of a client certificate and of less than ten minutes is a 422, and a plugin needs no account', async () => {
    const { cluster, name, user } = await begin()
    const causesOf = async (spec: object) => (await fetch(name, user, spec)).json.details.causes
    expect(await causesOf({ clientCert: true })).toMatchObject([{ field: 'spec.clientCert' }])
    expect(await causesOf({ certificateTTL: 599 })).toMatchObject([{ field: 'spec.certificateTTL' }])
    expect(await fetch(name, user, {}, { query: { dryRun: 'All' } })).toMatchObject({
      status: 201,
      json: { status: {} },
    })
    const { users } = await configIn(await fetch(name, user, { exec: { command: 'keyplane' } }))
    expect(users[0].user.exec.command).toBe('keyplane')
    expect([cluster.calls, await bound(user)]).toEqual([[], []])
  })

  test('is a 403 for a scope that restricts there, with the one that would be allowed', async () => {
    const { cluster, name, user } = await begin()
    const narrow = withScopes(user, { virtualClusters: [{ project: 'web', virtualCluster: name }], rules: [] })
    const restricted = { rules: [{ verbs: ['get', 'create'], resources: [{ group: '*', resources: ['*'] }] }] }
    const { status, json } = await fetch(name, withScopes(user, restricted))
    const allowed = JSON.stringify({ virtualClusters: [{ project: 'web', virtualCluster: name }] })
    expect([status, json.message]).toEqual([403, expect.stringContaining(allowed)])
    expect(cluster.calls).toEqual([])
    expect((await fetch(name, narrow)).status).toBe(201)
  })
})

describe('tokens end', () => {
  test.each<[string, (name: string, key: string) => Promise<{ status: number }>]>([
    ['the key is disabled', (_, key) => keys.patch(key, 'merge', { spec: { disabled: true } })],
    ['the instance is deleted', (name) => calls.remove(name)],
    [
      'its accounts are elsewhere',
      (name) => calls.patch(name, 'merge', { spec: { serviceAccounts: { namespace: 'b' } } }),
    ],
    ['it verifies tokens itself', (name) => calls.patch(name, 'merge', { spec: { tokens: null } })],
    [
      'its credentials are others',
      (name) => calls.patch(name, 'merge', { spec: { credentialsSecretRef: { secretName: 'p-web/other' } } }),
    ],
  ])('when %s', async (_, end) => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    // Neither ends anything, but the key is judged again.
    await calls.patch(name, 'merge', { spec: { displayName: 'Preview' } })
    await keys.patch(user.key.name, 'merge', { spec: { displayName: 'Preview' } })
    await endings()
    expect(cluster.accepts(token)).toBe(true)
    expect((await end(name, user.key.name)).status).toBe(200)
    await endings()
    expect(cluster.accepts(token)).toBe(false)
    expect(await bound(user)).toMatchObject([{ ended: expect.any(Number) }])
  })

  test('and the history of the key names a virtual cluster that is away', async () => {
    const { cluster, name, user } = await begin()
    await tokenIn(await fetch(name, user))
    cluster.plays.delete = ({ response }) => void response.socket?.destroy()
    await keys.patch(user.key.name, 'merge', { spec: { disabled: true } })
    await endings()
    const { json } = await functions.invoke('ownedaccesskeys/history', {
      parameters: { name: user.key.name },
      query: {},
    })
    expect(json.status.events).toContainEqual(
      expect.objectContaining({ type: 'tokens-unconfirmed', cluster: `p-web/${name}` }),
    )
  })
})
