/**
 * Tests exchanges for a kube config or a token of a cluster on a real kube-apiserver: kubectl works with those of the steps for CI jobs
 * and is refused after the job, and with curl as the plugin of docs/workloads.md.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Runner, startRunner } from '../clients/action/runner.ts'
import { objectsIn } from '../support/examples.ts'
import { claimsOf, exchangeForm, providers, tokenPath, trusts } from '../support/federation.ts'
import type { Block } from '../support/federationpages.ts'
import { type IssuerKey, makeIssuerKey, signIdToken } from '../support/issuerkey.ts'
import { createKubectl } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import { type StartedServer, startedServer } from '../support/startedserver.ts'

/** The least life of a key of an exchange in seconds. */
const LEAST_LIFE = 60
/** How long a token of such a key lives by the clock of the cluster, which is ahead of that of the server. */
const SEEN_LIFE = 4

let server: StartedServer
let runner: Runner
beforeAll(async () => {
  const clock = new Date(Date.now() - (LEAST_LIFE - SEEN_LIFE) * 1000)
  server = await startedServer({ KUBEBUILDER_ASSETS: process.env.KUBEBUILDER_ASSETS ?? '' }, clock)
  runner = await startRunner()
})
afterAll(async () => {
  await runner?.stop()
  await server?.stop()
})

test.each(['false', 'true'])('a job of GitHub uses the cluster with renew: %s, until it ends', async (renew) => {
  const inputs = { url: server.url, credential: server.credential, 'virtual-cluster': 'demo/demo', renew }
  const step = await runner.step(
    { ...inputs, 'certificate-authority': server.authorityFile },
    { ...server.idTokenVariables },
  )
  // kubectl runs the plugin that is beside the bundle.
  const { code, errors, variables } = await (await step.begin('main')).ended
  expect([code, errors]).toEqual([0, []])
  const kubectl = await createKubectl(await readFile(variables.KUBECONFIG ?? '', 'utf8'))
  const whoami = () =>
    kubectl.runWith(server.idTokenVariables, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
  expect(await whoami()).toEqual({ code: 0, stdout: 'alice', stderr: '' })
  expect(await (await step.begin('post')).ended).toMatchObject({ code: 0, warnings: [] })
  // The cluster asks this API, and keeps the answer for 30 seconds.
  await expect.poll(whoami, { interval: 1000 }).toMatchObject({ code: 1 })
  await kubectl.stop()
})

test('a process of client-go renews its tokens with curl as the plugin, through a revocation and a new key of the issuer, until the trust is closed', async () => {
  const [provider] = await objectsIn('kubernetes/trust.yaml')
  const [trust] = await objectsIn('kubernetes/cluster-trust.yaml')
  const [config] = await objectsIn('kubernetes/cluster-kubeconfig.yaml')
  const issuerKeys = [makeIssuerKey('ES256', 'first'), makeIssuerKey('ES256', 'second')] as const
  const pin = (...keys: IssuerKey[]) => ({ jwks: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }) })
  const change = async (path: string, spec: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await server.call(path, { method: 'PATCH', body: { spec }, headers })).status).toBe(200)
  }
  const make = async (path: string, object: Block, spec: object): Promise<Block> => {
    const made = await server.call(path, { method: 'POST', body: { ...object, spec: { ...object.spec, ...spec } } })
    expect([made.status, made.json.message]).toEqual([201, undefined])
    return made.json
  }
  await make(providers, provider, { ...pin(issuerKeys[0]), access: [{ verbs: ['use'], teams: ['*'] }] })
  const scope = { virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }] }
  const made = await make(trusts, trust, { team: undefined, user: 'alice', scope, ttl: LEAST_LIFE })

  const kubectl = await createKubectl({})
  const file = join(kubectl.folder, 'token')
  const claims = await claimsOf('kubernetes.pod')
  const idToken = (key: IssuerKey): string => {
    const now = Math.floor(Date.now() / 1000) - LEAST_LIFE
    return signIdToken({ ...claims, aud: [server.url], jti: crypto.randomUUID(), iat: now, exp: now + 3600 }, key)
  }
  let issuerKey: IssuerKey = issuerKeys[0]
  /** Replaces the file as the kubelet does. */
  async function mount(): Promise<void> {
    await writeFile(`${file}.new`, idToken(issuerKey))
    await rename(`${file}.new`, file)
  }

  // The virtual cluster in place of the connected one.
  const audience = 'virtualclusters/demo/demo'
  const form = exchangeForm(made.status.clientID, idToken(issuerKeys[0]), { audience })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/yaml;as=KubeConfig' }
  const { text } = await server.call(tokenPath, { method: 'POST', token: '', body: form, headers })
  const [, address = '', authority = ''] = /server: (\S+)\n +certificate-authority-data: (\S+)/.exec(text) ?? []
  const whole = JSON.parse(JSON.stringify(config))
  whole.clusters[0].cluster = { server: address, 'certificate-authority-data': authority }
  const { exec } = whole.users[0].user
  const here = (one: string): string =>
    one
      .replace('https://keys.example.com/prod/kubernetes/management', server.url)
      .replace(/^client_id=.*/, `client_id=${made.status.clientID}`)
      .replace('clusters/west', audience)
      .replace('/var/run/secrets/keyplane/token', file)
  exec.args = ['-q', '--cacert', server.authorityFile, ...exec.args.slice(1).map(here)]
  await kubectl.file('config', whole)

  const proxy = kubectl.start('proxy', '--port=0')
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(await proxy.until(/Starting to serve on .*\n/)) ?? []
  const list = async () => (await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default/pods`)).status
  const keysOf = async (): Promise<string[]> => {
    const label = encodeURIComponent(`management.platform/federated-identity-credential=${trust.metadata.name}`)
    const path = `/apis/management.platform/v1/ownedaccesskeys?labelSelector=${label}`
    return (await server.call(path)).json.items.map((key: Block) => key.metadata.name)
  }
  const known = new Set(await keysOf())
  /**
   * Waits for a new key behind the tokens of the process, which is answered all the time. Each attempt has an ID token of its own: for an equal
   * one the server would use the last key, which has not expired by its clock.
   */
  const renewed = () =>
    vi.waitFor(
      async () => {
        await mount()
        expect(await list()).toBe(200)
        const fresh = (await keysOf()).filter((name) => !known.has(name))
        expect(fresh).not.toEqual([])
        for (const name of fresh) known.add(name)
        return fresh
      },
      { ...patience, interval: 500 },
    )
  await renewed()
  const [current] = await renewed()
  await server.call(`/apis/management.platform/v1/ownedaccesskeys/${current}`, { method: 'DELETE' })
  await change(`${providers}/${provider.metadata.name}`, pin(...issuerKeys))
  issuerKey = issuerKeys[1]
  await renewed()
  await change(`${providers}/${provider.metadata.name}`, pin(issuerKeys[1]))
  await renewed()
  await renewed()
  await change(`${trusts}/${trust.metadata.name}`, { disabled: true })
  await vi.waitFor(async () => expect(await list()).toBe(500), { ...patience, interval: 500 })
  await proxy.until(/299 - "the subject token is not accepted for this client_id"/)
  await proxy.end()
  await kubectl.stop()
})
