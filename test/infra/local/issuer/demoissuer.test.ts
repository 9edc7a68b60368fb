import { request } from 'node:https'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueLoopback, makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'
import { DEMO_ISSUER, type DemoIssuer, startDemoIssuer } from '../../../../infra/local/issuer/demoissuer.ts'
import { readIdTokenShapes } from '../../../support/idtokens.ts'

const now = Date.UTC(2026, 10, 22, 12)
const audience = 'https://keys.example.com/prod/kubernetes/management'
const documented = await readIdTokenShapes()

let authority: string
let issuer: DemoIssuer
beforeAll(async () => {
  const pair = await makeAuthority('test', validFor(1, Date.now()))
  authority = pair.certificate
  issuer = await startDemoIssuer({ tls: await issueLoopback(pair, Date.now()), now: () => now })
})
afterAll(() => issuer.close())

function get(path: string, { authorization = `bearer ${issuer.requestToken}`, method = 'GET' } = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { method, ca: authority, agent: false, headers: { authorization } } as const
    const sent = request(`${issuer.url}${path}`, options, async (response) => {
      const chunks: Buffer[] = await response.toArray()
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
    })
    sent.on('error', reject).end()
  })
}

/** Verifies a token as a client of its published keys does. */
async function verified(token: string, expected = audience) {
  const { text } = await get('/keys')
  const options = { issuer: DEMO_ISSUER, audience: expected, currentDate: new Date(now), algorithms: ['ES256'] }
  const { payload } = await jwtVerify(token.trim(), createLocalJWKSet(JSON.parse(text)), options)
  return payload
}

describe('the demo issuer', () => {
  test.each([
    ['github', 'github.environment'],
    ['gitlab', 'gitlab.environment'],
    ['kubernetes', 'kubernetes.pod'],
  ])('issues tokens in the shape of %s', async (name, fixture) => {
    const { status, text } = await get(`/${name}?audience=${audience}`)
    expect(status).toBe(200)
    const payload = await verified(text)
    const { claims } = documented.find((shape) => shape.name === fixture) ?? { claims: {} }
    expect(Object.keys(payload).sort()).toEqual(Object.keys(claims).sort())
    expect(Array.isArray(payload.aud)).toBe(name === 'kubernetes')
    expect(Object.keys(payload['kubernetes.io'] ?? {})).toEqual(
      Object.keys((claims as { 'kubernetes.io'?: object })['kubernetes.io'] ?? {}),
    )
  })

  test('answers as GitHub does when it is asked as GitHub is', async () => {
    const { text } = await get(`/github?api-version=2.0&audience=${audience}`)
    expect(await verified(JSON.parse(text).value)).toMatchObject({ repository_id: '74', event_name: 'push' })
  })

  test('issues a new token each time, for the audience that is asked for', async () => {
    const [one, another] = await Promise.all([get('/github?audience=a'), get('/github?audience=a')])
    expect((await verified(one.text, 'a')).jti).not.toBe((await verified(another.text, 'a')).jti)
  })

  test('replaces claims, but not those that make a token valid', async () => {
    const { text } = await get(`/github?audience=${audience}&environment=staging`)
    expect(await verified(text)).toMatchObject({ environment: 'staging', repository_id: '74' })
    for (const query of ['iss=https://other.example', 'exp=9999999999', 'unknown=1', 'toString=1', 'runner_id=2'])
      expect(await get(`/gitlab?audience=a&${query}`)).toMatchObject({ status: 400 })
  })

  // threat: local-2
  test('refuses what has no token of this start, no audience, or is not served', async () => {
    const path = `/github?audience=${audience}`
    for (const authorization of ['', 'bearer ', 'bearer wrong', issuer.requestToken, `basic ${issuer.requestToken}`])
      expect(await get(path, { authorization })).toMatchObject({ status: 401 })
    expect(await get('/github')).toMatchObject({ status: 400 })
    for (const other of ['/toString', '/__proto__', '/github/', '/unknown'])
      expect(await get(other)).toMatchObject({ status: 404 })
    expect(await get(path, { method: 'POST' })).toMatchObject({ status: 405 })
  })

  test('has a page about its tokens, which needs no token', async () => {
    const { status, text } = await get('/', { authorization: '' })
    expect(status).toBe(200)
    for (const name of ['github', 'gitlab', 'kubernetes']) expect(text).toContain(`${issuer.url}/${name}?audience=`)
    expect(text).not.toContain(issuer.requestToken)
  })
})
