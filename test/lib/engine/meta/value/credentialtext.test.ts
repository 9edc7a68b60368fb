import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PRIVATE_CLAIM } from '../../../../../lib/clusters/token/contract.ts'
import { misplacedCredentials } from '../../../../../lib/engine/meta/schema/misplaced.ts'
import type { KubeObject } from '../../../../../lib/engine/meta/types.ts'
import { holdsCredential, withoutCredentials } from '../../../../../lib/engine/meta/value/credentialtext.ts'
import { generateAccessKey } from '../../../../../lib/keys/credential/accesskey.ts'

const key = generateAccessKey(randomBytes)
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (claims: object) => `${part({ alg: 'ES256' })}.${part(claims)}.${randomBytes(64).toString('base64url')}`
const token = jwt({ sub: 'alice', [PRIVATE_CLAIM]: { key: { name: 'a', uid: 'b' }, scopes: '[]' } })

describe('a credential of this service', () => {
  test.each([key, token, `x${key}`, `${key}x`, `a.${token}`, `"${token}",`, `mpk_${key}`, `${key.slice(0, -1)}${key}`])(
    'is found in %s',
    (text) => expect(holdsCredential(text)).toBe(true),
  )

  test.each([
    '',
    'mpk_',
    key.slice(0, -1),
    `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    key.toUpperCase(),
    jwt({ sub: 'alice' }),
    token.slice(0, token.indexOf('.')),
    part({ [PRIVATE_CLAIM]: {} }),
  ])('is not found in %s', (text) => expect(holdsCredential(text)).toBe(false))
})

describe('redacting credentials', () => {
  test.each([
    [`no ${key}, no`, 'no <redacted>, no'],
    [`${key}${key}`, '<redacted>'],
    [`mpk_${'a'.repeat(20)}${key}`, '<redacted>'],
    [`name "${key.slice(0, 24)}…"`, 'name "<redacted>…"'],
    [`a ${jwt({})} b`, 'a <redacted> b'],
    [`v1.${token}`, 'v1.<redacted>'],
    [`${token}, ${token}`, '<redacted>, <redacted>'],
    ['mpk_ and eyJ are harmless: eyJhbGciOiJFUzI1NiJ9', 'mpk_ and eyJ are harmless: eyJhbGciOiJFUzI1NiJ9'],
    ['eyJhbGciOiJFUzI1NiJ9. A sentence.', 'eyJhbGciOiJFUzI1NiJ9. A sentence.'],
  ])('in the text %s', (text, expected) => expect(withoutCredentials(text)).toBe(expected))
})

describe('misplaced credentials', () => {
  const object = (metadata: object, spec: object = {}) =>
    ({ apiVersion: 'example.test/v1', kind: 'Example', metadata, spec }) as KubeObject
  const fields = (one: KubeObject, old?: KubeObject) => misplacedCredentials(one, old).map(({ field }) => field)

  test('are reported by field', () => {
    const labels = { [key]: 'x', a: key }
    expect(fields(object({ labels }, { list: [{ a: 'x' }, { a: token }] }))).toEqual([
      'metadata.labels',
      'metadata.labels.a',
      'spec.list[1].a',
    ])
    expect(JSON.stringify(misplacedCredentials(object({ labels })))).not.toContain(key)
  })

  // threat: storage-2
  test('that are already stored do not prevent changes of the object', () => {
    const old = object({ annotations: { a: key } }, { disabled: false })
    expect(fields(object({ annotations: { a: key } }, { disabled: true }), old)).toEqual([])
    expect(fields(object({ annotations: { a: generateAccessKey(randomBytes) } }), old)).toEqual([
      'metadata.annotations.a',
    ])
  })

  test('are reported up to a limit', () =>
    expect(fields(object({}, { list: Array.from({ length: 1000 }, () => key) }))).toHaveLength(16))
})
