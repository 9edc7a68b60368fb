/** Tests that the API accepts the tokens of the demo issuer, also after a restart of the local server. */
import { request } from 'node:https'
import { afterAll, expect, test } from 'vitest'
import { issueLoopback, makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'
import { type DemoIssuer, startDemoIssuer } from '../../../../infra/local/issuer/demoissuer.ts'
import { ensureDemoTrust } from '../../../../infra/local/issuer/demotrust.ts'
import { exchangeForm, tokenPath } from '../../../support/federation.ts'
import { useServer } from '../../../support/sharedserver.ts'

const management = '/apis/management.platform/v1'
const issuers: DemoIssuer[] = []

const server = useServer()
afterAll(() => Promise.all(issuers.map((issuer) => issuer.close())))

/** Starts an issuer as a start of the local server does, and returns its client_id and how a job gets a key. */
async function start() {
  const authority = await makeAuthority('test', validFor(1, Date.now()))
  const issuer = await startDemoIssuer({ tls: await issueLoopback(authority, Date.now()), now: Date.now })
  issuers.push(issuer)
  const credential = await ensureDemoTrust({
    api: `${server.base}${management}`,
    authority: server.certificateAuthority,
    accessKey: server.adminKey,
    jwks: issuer.jwks,
  })
  const idToken = (query: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${issuer.requestToken}` }
      const url = `${issuer.url}/github?audience=${server.base}${query}`
      const sent = request(url, { ca: authority.certificate, agent: false, headers }, async (response) =>
        resolve(Buffer.concat(await response.toArray()).toString()),
      )
      sent.on('error', reject).end()
    })
  return {
    credential,
    exchange: async (query = '') =>
      server.call(tokenPath, {
        method: 'POST',
        token: '',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: exchangeForm(credential, await idToken(query)),
      }),
  }
}

const selfOf = async (key: string) =>
  (await server.call(`${management}/selves`, { method: 'POST', body: {}, token: key })).json

test('a job of the demo gets a key of alice, another environment gets none', async () => {
  const { exchange } = await start()
  const { json } = await exchange()
  expect(json).toMatchObject({ expires_in: 900 })
  expect(await selfOf(json.access_token)).toMatchObject({
    status: { subject: 'alice', accessKeyScope: { projects: [{ project: 'demo' }] } },
  })
  expect((await exchange('&environment=staging')).json.error_description).toContain("claim environment is 'staging'")
})

test('another start keeps the client_id, and ends the keys and the tokens of the one before', async () => {
  const before = await start()
  const { json: old } = await before.exchange()
  const after = await start()
  expect(after.credential).toBe(before.credential)
  expect((await after.exchange()).status).toBe(200)
  expect((await before.exchange()).status).toBe(400)
  expect((await selfOf(old.access_token)).message).toContain(
    'the identity provider of the access key has changed since the exchange: exchange another ID token',
  )
})

test('a start after the provider was deleted makes the trust again', async () => {
  const { credential } = await start()
  await server.call(`${management}/identityproviders/demo`, { method: 'DELETE' })
  const again = await start()
  expect(again.credential).not.toBe(credential)
  expect((await again.exchange()).status).toBe(200)
})
