/** Checks exchanges of ID tokens, and reports of leaked keys. An issuer of the check's own signs them: its public key is pinned. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import type { Client } from '../client.ts'
import { assertStatus, type Check, management } from './check.ts'

const keys = `${management}/ownedaccesskeys`
const providers = `${management}/identityproviders`
const trusts = `${management}/federatedidentitycredentials`
const ISSUER = 'https://smoke.keyplane.example'

interface Trusted {
  /** Returns a new ID token of the job `smoke`, or of another one. */
  idToken(sub?: string): string
  /** Sends a token to the token endpoint. */
  exchange(idToken: string, accept?: string): ReturnType<Client['call']>
  disable(): Promise<void>
}

/** Creates a provider and a trust, runs `work` with them and deletes both. */
async function withTrust(client: Client, work: (trusted: Trusted) => Promise<void>): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'smoke', alg: 'ES256', use: 'sig' }
  const metadata = { name: `smoke-${randomUUID()}` }
  const apiVersion = 'management.platform/v1'
  const provider = await client.call(providers, {
    method: 'POST',
    body: {
      apiVersion,
      kind: 'IdentityProvider',
      metadata,
      spec: { issuer: ISSUER, jwks: JSON.stringify({ keys: [jwk] }) },
    },
  })
  assert.equal(provider.status, 201, provider.text)
  try {
    const spec = {
      identityProvider: metadata.name,
      user: 'smoke',
      claims: [{ claim: 'sub', values: ['smoke'] }],
      scope: {},
      ttl: 60,
    }
    const body = { apiVersion, kind: 'FederatedIdentityCredential', metadata, spec }
    const trust = await client.call(trusts, { method: 'POST', body })
    assert.equal(trust.status, 201, trust.text)
    const audience: string = provider.json.status.audience
    const clientID: string = trust.json.status.clientID
    await work({
      idToken(sub = 'smoke') {
        const now = Math.floor(Date.now() / 1000)
        const claims = { iss: ISSUER, sub, aud: audience, iat: now, exp: now + 300, jti: randomUUID() }
        const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
        const input = `${encode({ alg: 'ES256', kid: 'smoke', typ: 'JWT' })}.${encode(claims)}`
        const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
        return `${input}.${signature.toString('base64url')}`
      },
      exchange: (idToken, accept = 'application/json') =>
        sendForm(
          client,
          '/oauth2/token',
          {
            grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
            subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
            client_id: clientID,
            subject_token: idToken,
          },
          accept,
        ),
      async disable() {
        const type = 'application/merge-patch+json'
        const path = `${trusts}/${metadata.name}`
        const { status, text } = await client.call(path, { method: 'PATCH', body: { spec: { disabled: true } }, type })
        assert.equal(status, 200, text)
      },
    })
  } finally {
    await client.call(`${trusts}/${metadata.name}`, { method: 'DELETE' })
    await client.call(`${providers}/${metadata.name}`, { method: 'DELETE' })
  }
}

const sendForm = (client: Client, path: string, parameters: Record<string, string>, accept = 'application/json') =>
  client.call(path, {
    method: 'POST',
    body: Buffer.from(new URLSearchParams(parameters).toString()),
    type: 'application/x-www-form-urlencoded',
    accept,
    token: '',
  })

const self = (client: Client, token: string) => client.call(`${management}/selves`, { method: 'POST', body: {}, token })

export const exchanges: readonly Check[] = [
  {
    name: 'an ID token is exchanged for a key once, and the key ends when its trust is disabled',
    emulated: true,
    run: (client) =>
      withTrust(client, async ({ idToken, exchange, disable }) => {
        const token = idToken()
        const made = await exchange(token)
        assert.equal(made.status, 200, made.text)
        const { access_token: key, expires_in: seconds } = made.json
        assert.equal(seconds, 60)
        assert.equal((await self(client, key)).status, 201)
        const again = await exchange(token)
        assert.deepEqual([again.status, again.json?.error], [400, 'invalid_request'], again.text)
        assert.match(again.json.error_description, /^the subject token has been exchanged already/)
        await disable()
        assertStatus(await self(client, key), 401, 'Unauthorized')
      }),
  },
  {
    name: 'a key of an exchange is revoked by its value',
    emulated: true,
    run: (client) =>
      withTrust(client, async ({ idToken, exchange }) => {
        const { text } = await exchange(idToken(), 'text/plain')
        assert.match(text, /^mpk_\w{49}$/)
        assert.equal((await self(client, text.trim())).status, 201)
        assert.equal((await sendForm(client, '/oauth2/revoke', { token: text })).status, 200)
        assertStatus(await self(client, text.trim()), 401, 'Unauthorized')
      }),
  },
  {
    name: 'a report of a leaked key ends it, and is a 202 without content',
    emulated: true,
    async run(client) {
      const metadata = { name: `smoke-${randomUUID()}` }
      const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata, spec: { ttl: 60 } }
      const made = await client.call(keys, { method: 'POST', body })
      assert.equal(made.status, 201, made.text)
      try {
        const credentials = [made.json.spec.key]
        const { status, text } = await client.call('/leaks', { method: 'POST', token: '', body: { credentials } })
        assert.deepEqual([status, text], [202, ''])
        assertStatus(await self(client, made.json.spec.key), 401, 'Unauthorized')
      } finally {
        await client.call(`${keys}/${metadata.name}`, { method: 'DELETE' })
      }
    },
  },
  {
    name: 'a refused exchange says so in its body and in the header Warning',
    emulated: true,
    run: (client) =>
      withTrust(client, async ({ idToken, exchange }) => {
        const { status, json, text, headers } = await exchange(idToken('another job'))
        assert.deepEqual([status, json?.error], [400, 'invalid_request'], text)
        assert.ok(headers.warning?.includes(json.error_description), `Warning: ${headers.warning}`)
        const get = await client.call('/oauth2/token', { token: '' })
        assert.deepEqual([get.status, get.headers.allow], [405, 'POST'], get.text)
      }),
  },
]
