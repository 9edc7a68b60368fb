import { describe, expect, test } from 'vitest'
import { issuerTypes } from '../../../lib/federation/issuers.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'

const shapes = await readIdTokenShapes()

test('there are shapes of every platform that has rules of its own', () =>
  expect(new Set(shapes.map(({ platform }) => platform))).toEqual(new Set(issuerTypes)))

describe.each(shapes)('$name', ({ header, claims, source, read, tenant }) => {
  test('names its source, its day and its tenant', () => {
    expect(source.filter((one) => /^(https:\/\/|recorded from )/.test(one))).toEqual(source)
    expect(source).not.toEqual([])
    expect(read).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect(tenant).not.toBe('')
  })

  test('has what every ID token has', () => {
    expect(header).toMatchObject({ alg: expect.stringMatching(/^[RE]S256$/), kid: expect.any(String) })
    const { iss, sub, aud, iat, exp } = claims
    expect([iss, sub]).toEqual([expect.stringMatching(/^https:/), expect.any(String)])
    expect([aud].flat()).toContain('https://keys.example.com/prod/kubernetes/management')
    expect([iat, exp]).toEqual([expect.any(Number), expect.any(Number)])
  })
})
