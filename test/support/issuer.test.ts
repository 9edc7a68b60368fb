import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signatureAlgorithms } from '../../lib/federation/algorithms.ts'
import { parseIdToken } from '../../lib/federation/idtoken.ts'
import { parseKeySet } from '../../lib/federation/jwks.ts'
import { verifySignature } from '../../lib/federation/verify.ts'
import { sendHttps } from '../../lib/outbound/https.ts'
import { startIssuer, type TestIssuer } from './issuer.ts'

describe('the issuer of the tests', () => {
  let issuer: TestIssuer
  beforeAll(async () => {
    issuer = await startIssuer()
  })
  afterAll(() => issuer.close())

  test.each(signatureAlgorithms)('signs in %s', async (alg) => {
    issuer.rotate({ alg })
    const { keys } = parseKeySet(issuer.jwks())
    const token = parseIdToken(issuer.sign({ sub: 'repo:octo-org/shop' }))
    expect(token).toMatchObject({ alg, issuer: issuer.url, subject: 'repo:octo-org/shop' })
    expect(await verifySignature(token, keys)).toBe(true)
    issuer.rotate({ alg })
    expect(await verifySignature(token, parseKeySet(issuer.jwks()).keys)).toBe(false)
  })

  test('serves its documents, and counts the requests', async () => {
    const { destinations, certificateAuthority } = issuer
    const get = async (path: string) => {
      const url = new URL(issuer.url + path)
      const signal = AbortSignal.timeout(5000)
      return sendHttps({ url, method: 'GET', signal, maxBytes: 100_000, destinations, certificateAuthority })
    }
    const discovery = await get('/.well-known/openid-configuration')
    expect(JSON.parse(discovery.body.toString())).toEqual({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })
    expect((await get('/keys')).body.toString()).toBe(issuer.jwks())
    expect((await get('/other')).status).toBe(404)
    expect(issuer.requests).toEqual({ discovery: 1, keys: 1, other: 1 })
  })
})
