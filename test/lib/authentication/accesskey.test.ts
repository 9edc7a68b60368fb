import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkFormat, duplicateKey, generateKey, isWellFormed } from '../../../lib/authentication/accesskey.ts'
import { bearerToken } from '../../../lib/authentication/bearertoken.ts'
import { KEY_PATTERN } from '../../../lib/meta/value/credentials.ts'

const page = readFileSync(new URL('../../../docs/access-keys.md', import.meta.url), 'utf8')
const vectors = [...page.matchAll(/\| `([0-9a-f]{64})` \| `(\S+)` \|/g)].map(
  ([, hex = '', key = '']) => [hex, key] as const,
)

describe('generated keys', () => {
  test('match the documented vectors', () => {
    expect(vectors).toHaveLength(3)
    for (const [hex, key] of vectors) expect(generateKey(() => Buffer.from(hex, 'hex'))).toBe(key)
  })

  test('are found in a text by the documented pattern', () => {
    const pattern = new RegExp(/`(\\bmpk_.*?\\b)`/.exec(page)?.[1] ?? 'x^')
    for (const [, key] of vectors) expect(pattern.exec(`token: "${key}"`)?.[0]).toBe(key)
  })

  test('are well-formed and encode all random bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(255), (bytes, bit) => {
        const key = generateKey(() => bytes)
        expect(key).toMatch(KEY_PATTERN)
        expect(isWellFormed(key)).toBe(true)
        const flipped = bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
        expect(generateKey(() => flipped)).not.toBe(key)
      }),
      { numRuns: 300, seed: 20261121 },
    )
  })

  test('are rejected after any changed character', () => {
    const key = generateKey(randomBytes)
    for (let index = 0; index < key.length; index++) {
      const other = key[index] === 'x' ? 'y' : 'x'
      const changed = key.slice(0, index) + other + key.slice(index + 1)
      if (changed.startsWith('mpk_')) expect(isWellFormed(changed), changed).toBe(false)
    }
  })

  test('require 32 random bytes', () => {
    expect(() => generateKey(() => new Uint8Array(31))).toThrow()
  })
})

describe('keys supplied by clients', () => {
  const good = [
    'x'.repeat(32),
    'x'.repeat(512),
    '!~"\\/=+'.repeat(5),
    'a.b'.repeat(12).replaceAll('.', '..'),
    'MPK_'.padEnd(40, 'x'),
  ]
  test.each(good.map((key) => [key]))('accepts %s', (key) => {
    expect(checkFormat(key)).toEqual([])
    expect(isWellFormed(key)).toBe(true)
  })

  const part = 'Abc-_123456789'
  const bad: [string, string][] = [
    ['', 'must have 32 to 512 characters'],
    ['x'.repeat(31), 'must have 32 to 512 characters'],
    ['x'.repeat(513), 'must have 32 to 512 characters'],
    [`${'x'.repeat(40)} y`, 'must be printable ASCII characters without spaces'],
    [`${'x'.repeat(40)}\n`, 'must be printable ASCII characters without spaces'],
    [`${'x'.repeat(40)}é`, 'must be printable ASCII characters without spaces'],
    [`${'x'.repeat(40)}\u007f`, 'must be printable ASCII characters without spaces'],
    [[part, part, part].join('.'), 'may not have the form of a JSON Web Token'],
    [[part, part + part, ''].join('.'), 'may not have the form of a JSON Web Token'],
    [[part, '', part, part, part].join('.'), 'may not have the form of a JSON Web Token'],
    ['mpk_'.padEnd(40, 'x'), 'what begins with mpk_ must be an access key made by this service'],
    ['mpk_'.padEnd(53, 'x'), 'what begins with mpk_ must end in the right checksum'],
  ]
  test.each(bad)('rejects %j without quoting it', (key, detail) => {
    expect(isWellFormed(key)).toBe(false)
    expect(checkFormat(key)).toEqual([
      { type: 'FieldValueInvalid', field: 'spec.key', message: `Invalid value: <redacted>: ${detail}` },
    ])
  })

  test('redacts a duplicate', () => {
    expect(duplicateKey()).toEqual({
      type: 'FieldValueDuplicate',
      field: 'spec.key',
      message: 'Duplicate value: <redacted>',
    })
  })
})

describe('bearerToken', () => {
  test.each<[string[] | undefined, string | undefined]>([
    [['Bearer abc'], 'abc'],
    [['bEARER   abc '], 'abc'],
    [undefined, undefined],
    [[], undefined],
    [['Bearer a', 'Bearer b'], undefined],
    [['Bearer'], undefined],
    [['Bearer '], undefined],
    [['Bearer a b'], undefined],
    [['Basic abc'], undefined],
    [['abc'], undefined],
    [['xBearer abc'], undefined],
  ])('%j', (values, token) => expect(bearerToken(values)).toBe(token))
})
