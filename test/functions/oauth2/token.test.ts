/** Tests exchanges of ID tokens by their function: what the key of an exchange is, whatever the token and the request say. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import type { Stored } from '../../../lib/engine/storage/interface.ts'
import { MOST_KEYS } from '../../../lib/federation/exchange/slots.ts'
import { table as providerTable } from '../../../lib/federation/identityprovider.values.ts'
import { encodeKeyItem } from '../../../lib/federation/issuerkeys.ts'
import { normalizeKeySet } from '../../../lib/federation/jwks.ts'
import { toProvider } from '../../../lib/federation/provider.ts'
import { exchangeForm, type Parameters } from '../../support/federation.ts'
import { type Json, useFunctions } from '../../support/functions.ts'
import { makeIssuerKey, signIdToken } from '../../support/issuerkey.ts'
import { callsOf, providers, trusts } from '../stored/fixtures.ts'

const functions = useFunctions()
const issuer = 'https://login.company.example'
const key = makeIssuerKey('ES256', 'a')
const audience = 'https://keyplane.example.com/kubernetes/management'

let count = 0
const now = () => Math.floor(Date.now() / 1000)
/** Signs a token of a person, which is valid for 23 hours from `iat` on. */
const sign = (iat = now(), claims: object = {}, by = key) =>
  signIdToken(
    {
      iss: issuer,
      aud: audience,
      sub: 'mona',
      groups: ['staff'],
      jti: `${++count}`,
      iat,
      exp: iat + 82_800,
      ...claims,
    },
    by,
  )

/** Creates a trust in the provider `company` and returns its `client_id`. */
async function trust(spec: JsonObject): Promise<string> {
  const claims = [{ claim: 'groups', values: ['staff'] }]
  const name = `trust-${++count}`
  const { metadata } = await callsOf(functions, trusts).make({ name }, { identityProvider: 'company', claims, ...spec })
  return `${name}@${metadata.uid}`
}

async function exchange(client: string, token: string, more: Parameters = {}): Promise<{ status: number; json: Json }> {
  const answer = await functions.invoke('oauth2/token', { body: exchangeForm(client, token, more) })
  return { status: answer.status, json: answer.json }
}

/** Returns what the authorizer passes on for a request with the key. */
async function authorize(accessKey: string): Promise<Record<string, string>> {
  const { context } = await functions.run('authorizer', (event: Json) => ({
    ...event,
    headers: { ...event.headers, Authorization: `Bearer ${accessKey}` },
    multiValueHeaders: { ...event.multiValueHeaders, Authorization: [`Bearer ${accessKey}`] },
  }))
  return context
}

const people = { claimMappings: { username: { claim: 'sub', prefix: 'company:' } } }

beforeAll(async () => {
  const spec = { issuer, jwks: JSON.stringify({ keys: [key.jwk] }), tokenUse: 'Lifetime' }
  await callsOf(functions, providers).make({ name: 'company' }, spec)
})

describe('the key of a person', () => {
  // threat: use-17
  test.each([
    ['was signed a minute ago', 60, 201],
    ['was signed 15 minutes ago', 900, 403],
    ['was signed 22 hours ago', 79_200, 403],
  ])('from an ID token that %s makes keys without an end: %i s, %i', async (_, age, code) => {
    const { json } = await exchange(await trust(people), sign(now() - age))
    const authorizer = await authorize(json.access_token)
    const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { generateName: 'k-' } }
    const made = await functions.invoke('ownedaccesskeys/create', { authorizer, body })
    expect(made.status).toBe(code)
  })
})

describe('while the keys of the issuer cannot be read', () => {
  // threat: exchange-44
  test.each([
    ['of the trust is a 503', {}, 503],
    ['for another audience is the 400 of every stranger', { aud: 'other' }, 400],
    ['of another organization is the 400 of every stranger', { org: 'other' }, 400],
  ])('a token %s', async (_, claims, code) => {
    const unreachable = 'https://issuer.invalid'
    const name = `unreachable-${++count}`
    const org = [{ claim: 'org', values: ['ours'] }]
    await callsOf(functions, providers).make({ name }, { issuer: unreachable, claims: org })
    const client = await trust({ identityProvider: name, scope: {} })
    const token = sign(now(), { iss: unreachable, org: 'ours', ...claims })
    const stranger = await exchange(`${client.slice(0, -1)}${client.endsWith('0') ? '1' : '0'}`, token)
    const answer = await exchange(client, token)
    expect(answer.status).toBe(code)
    expect(stranger.status).toBe(400)
    if (code === 400) expect(answer.json).toEqual(stranger.json)
    const lines = functions.get().log.map((line) => JSON.parse(line))
    const failed = { level: 'error', issuerFetches: 1, issuerFetchFailures: 1 }
    const fetched = lines.filter(
      ({ message, identityProvider }) => [message, identityProvider].join() === `issuer keys fetched,${name}`,
    )
    expect(fetched).toEqual('aud' in claims ? [] : [expect.objectContaining(failed)])
  })
})

describe('while the keys of the issuer were read a moment ago', () => {
  const fetched = 'https://rotating.company.example'

  /** Creates a provider whose only known key is that of these tests, and a trust in it. Returns the `client_id`. */
  async function trustInRotating(): Promise<string> {
    const name = `rotating-${++count}`
    const spec = { issuer: fetched, claims: [{ claim: 'org', values: ['ours'] }] }
    const { metadata } = await callsOf(functions, providers).make({ name }, spec)
    const { storage } = functions.get().parts
    const revision = toProvider((await storage.get(providerTable, name)) as Stored).revision
    const [attemptedAt, keys] = [Date.now(), normalizeKeySet({ keys: [key.jwk as JsonObject] })]
    const state = { revision, attemptedAt, keys, fetchedAt: attemptedAt, freshFor: 600_000 }
    await storage.writeCompanion(
      { ...encodeKeyItem(metadata.uid, state), when: { is: undefined } },
      { deadline: () => 10_000 },
    )
    return await trust({ identityProvider: name, scope: {} })
  }

  // threat: exchange-44
  test.each([
    ['of the trust is a 503 with the time of the next fetch', {}, 503],
    ['for another audience is the 400 of every stranger', { aud: 'other' }, 400],
    ['of another organization is the 400 of every stranger', { org: 'other' }, 400],
  ])('a token with an unknown key ID %s', async (_, claims, code) => {
    const client = await trustInRotating()
    const token = sign(now(), { iss: fetched, org: 'ours', ...claims }, makeIssuerKey('ES256', 'b'))
    const { status, json } = await exchange(client, token)
    expect(status).toBe(code)
    expect(json.error_description).toMatch(
      code === 503
        ? /^the key that the subject token names is not known yet, and the keys of its issuer are read again in \d+ s$/
        : /^the subject token is not accepted for this client_id$/,
    )
    if (code === 503) expect(functions.get().log.join('\n')).toContain('"reason":"key_unknown"')
  })

  test('a forged token with a known key ID is refused', async () => {
    const client = await trustInRotating()
    const forged = sign(now(), { iss: fetched, org: 'ours' }, makeIssuerKey('ES256', 'a'))
    expect((await exchange(client, forged)).status).toBe(400)
  })
})

describe('an ID token that is exchanged during its lifetime', () => {
  // threat: exchange-26
  test('gives at most 50 valid keys for each trust, however many ask at the same time', async () => {
    const [client, token] = [await trust({ user: 'alice', scope: {} }), sign()]
    const all = await Promise.all(Array.from({ length: MOST_KEYS + 14 }, () => exchange(client, token)))
    const made = all.filter(({ status }) => status === 200)
    expect(made).toHaveLength(MOST_KEYS)
    const why = `the subject token has been exchanged for ${MOST_KEYS} access keys: use those, or get a new token from the issuer`
    const refused = { error: 'invalid_request', error_description: why }
    expect(all.filter(({ status }) => status !== 200).map(({ json }) => json)).toEqual(Array(14).fill(refused))
    expect((await exchange(client, token, { dry_run: 'true' })).json).toEqual(refused)

    // Keys that are revoked or deleted give their slots back, once each.
    const body = new URLSearchParams({ token: made[0]?.json.access_token }).toString()
    expect((await functions.invoke('oauth2/revoke', { body })).status).toBe(200)
    const again = await Promise.all([1, 2, 3].map(() => exchange(client, token)))
    expect(again.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    expect((await exchange(await trust({ user: 'alice', scope: {} }), token)).status).toBe(200)
  })
})

// threat: exchange-27
test('a trust with maxKeys has at most so many valid keys, whatever ID tokens they come from', async () => {
  const client = await trust({ user: 'alice', scope: {}, maxKeys: 2 })
  const all = await Promise.all([1, 2, 3, 4].map(() => exchange(client, sign())))
  expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400])
  const why = 'this client_id already has 2 valid access keys (spec.maxKeys): revoke those that are no longer needed'
  expect(all.find(({ status }) => status === 400)?.json.error_description).toBe(why)
  const made = all.find(({ status }) => status === 200)?.json.access_token
  await functions.invoke('oauth2/revoke', { body: new URLSearchParams({ token: made }).toString() })
  expect((await exchange(client, sign())).status).toBe(200)
})
