import { base64url, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Expectations, verifyOwnToken } from '../../../../infra/local/virtualcluster/verifytoken.ts'
import type { Claims } from '../../../../lib/clusters/token/claims.ts'
import { jwksDocument } from '../../../../lib/clusters/token/jwks.ts'
import { signToken } from '../../../../lib/clusters/token/jwt.ts'
import type { PublicKey, Signer } from '../../../../lib/clusters/token/signer.ts'
import { localSigner } from '../../../lib/clusters/token/localsigner.ts'

const now = new Date('2026-11-21T12:00:00Z')
const iat = now.getTime() / 1000
const issuer = 'https://api.example.com'
const audience = `${issuer}/clusters/eu`

const claims: Claims = {
  iss: issuer,
  aud: [audience],
  sub: 'ci',
  groups: ['ops'],
  jti: 'uuid-1',
  iat,
  nbf: iat,
  exp: iat + 60,
  'management.platform': { key: { name: 'k', uid: 'u', run: 'key k' }, scopes: '[]' },
}

let signer: Signer
let jwks: { keys: PublicKey[] }
beforeAll(async () => {
  signer = await localSigner()
  jwks = await jwksDocument(signer)
})

const read = (jwt: string, changes: Partial<Expectations> = {}) =>
  verifyOwnToken(jwt, jwks, { issuer, audience, now, ...changes })
const sign = (changes: Record<string, unknown> = {}) => signToken({ ...claims, ...changes } as Claims, signer)
const refused = { status: { code: 401, message: 'Unauthorized' } }

describe('verifyOwnToken', () => {
  test('returns the signed claims', async () => {
    expect(await read(await sign())).toEqual(claims)
    expect(await read(await sign(), { audience: [`${issuer}/clusters/*`, audience] })).toEqual(claims)
    const rsa = await localSigner('RS256')
    const keys = await jwksDocument(rsa)
    expect(await verifyOwnToken(await signToken(claims, rsa), keys, { issuer, audience, now })).toEqual(claims)
  })

  test.each<[string, Partial<Expectations>]>([
    ['another issuer', { issuer: 'https://other.example.com' }],
    ['another cluster', { audience: `${issuer}/clusters/us` }],
    ['nobody', { audience: [] }],
    ['its expiry time', { now: new Date((iat + 60) * 1000) }],
    ['a time before it was issued', { now: new Date((iat - 1) * 1000) }],
  ])('rejects a token for %s', async (_, changes) => expect(read(await sign(), changes)).rejects.toMatchObject(refused))

  test.each<[string, Record<string, unknown>]>([
    ['groups', { groups: undefined }],
    ['groups that are text', { groups: 'ops' }],
    ['groups that are numbers', { groups: [1] }],
    ['an audience in a list', { aud: audience }],
    ['a subject', { sub: undefined }],
    ['an identity', { jti: undefined }],
    ['an expiry', { exp: undefined }],
    ['the private claim', { 'management.platform': undefined }],
    ['scopes', { 'management.platform': { key: { name: 'k', uid: 'u' } } }],
    ['a key', { 'management.platform': { scopes: '[]' } }],
  ])('rejects a token with an invalid claim: %s', async (_, changes) =>
    expect(read(await sign(changes))).rejects.toMatchObject(refused),
  )

  // threat: tokens-8
  test('rejects foreign, unsigned and modified tokens', async () => {
    const other = await localSigner()
    await expect(read(await signToken(claims, other))).rejects.toMatchObject(refused)
    await expect(read(new UnsecuredJWT({ ...claims }).encode())).rejects.toMatchObject(refused)
    const [key] = await signer.keys()
    const hmac = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', kid: key.kid, typ: 'JWT' })
      .sign(Buffer.from(JSON.stringify(key)))
    await expect(read(await hmac)).rejects.toMatchObject(refused)
    const [header, , signature] = (await sign()).split('.')
    const forged = base64url.encode(JSON.stringify({ ...claims, groups: ['platform:admins'] }))
    await expect(read([header, forged, signature].join('.'))).rejects.toMatchObject(refused)
  })

  test.each(['', '.', '..', 'a.b.c', 'mpk_x', 'x'.repeat(100_000)])('rejects malformed text', (text) =>
    expect(read(text)).rejects.toMatchObject(refused),
  )
})
