import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { isPrintable } from '../../../lib/engine/meta/value/printable.ts'
import type { IssuerRules } from '../../../lib/federation/catalogue.ts'
import { issuerTypes } from '../../../lib/federation/issuers.ts'
import { typeRules } from '../../../lib/federation/issuertypes.ts'
import { runOf } from '../../../lib/federation/run.ts'

const rules = (type: keyof typeof typeRules): IssuerRules => ({ ...typeRules[type], shared: false })
const run = (type: keyof typeof typeRules, claims: JsonObject, subject = 'sub') =>
  runOf({ claims, subject }, rules(type))

const GITHUB = { repository: 'octo-org/shop', environment: 'production', run_id: '1234567890' }

test.each<[keyof typeof typeRules, JsonObject, string]>([
  ['GitHub', GITHUB, 'octo-org/shop production (run 1234567890)'],
  ['GitHub', { repository: 'octo-org/shop', run_id: '1' }, 'octo-org/shop (run 1)'],
  ['GitHub', { ...GITHUB, environment: 'production (run 1)' }, 'octo-org/shop "production (run 1)" (run 1234567890)'],
  ['GitHub', { ...GITHUB, environment: 'a"b\\' }, 'octo-org/shop "a\\"b\\\\" (run 1234567890)'],
  [
    'GitHub',
    { ...GITHUB, environment: 'prod\u202euction\n' },
    'octo-org/shop "prod\ufffduction\ufffd" (run 1234567890)',
  ],
  ['GitHub', { ...GITHUB, environment: 'production\uff08run' }, 'octo-org/shop "production\uff08run" (run 1234567890)'],
  ['GitLab', { project_path: 'shop/api', environment: 'staging', job_id: '77' }, 'shop/api staging (job 77)'],
  ['Kubernetes', { sub: 'system:serviceaccount:shop:operator' }, 'system:serviceaccount:shop:operator'],
  ['OIDC', { sub: 'key' }, '"key"'],
  ['Azure', {}, 'sub'],
])('a job of %s with %j is %j', (type, claims, expected) => expect(run(type, claims)).toBe(expected))

test('cut values with one beginning differ', () => {
  const account = (name: string) => run('Kubernetes', { sub: `system:serviceaccount:${'shop'.repeat(30)}:${name}` })
  expect(account('a')).toMatch(/^"system:serviceaccount:shop[a-z]*…[0-9a-f]{8}"$/)
  expect(account('a')).toHaveLength(100)
  expect(account('a')).not.toBe(account('b'))
  expect(account('a')).toBe(account('a'))
})

describe('of every type of issuer', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.constantFrom(
      'key',
      'key ci',
      'a (run 1)',
      '"a"',
      'production',
      '(run 1)',
      'a b',
      'x'.repeat(300),
      '"'.repeat(300),
    ),
  )
  const TEXT = '"(?:[^"\\\\]|\\\\.)*"'
  /** The parts of a run: words, JSON texts, and a number in brackets. */
  const partsOf = (text: string) =>
    [...text.matchAll(new RegExp(`${TEXT}|\\(\\w+ (?:${TEXT}|[^ "]+)\\)|[^ ]+`, 'g'))].map(([one]) => one)

  // threat: tokens-2
  test.each(issuerTypes)(
    '%s has at most 256 printable characters, and no value adds, removes or imitates another',
    (type) => {
      const { parts, number } = rules(type).display
      const names = [...parts, ...(number ? [number.claim] : [])]
      fc.assert(
        fc.property(fc.tuple(...names.map(() => value)), (values) => {
          const claims = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
          const text = run(type, claims)
          expect(text.length).toBeLessThanOrEqual(256)
          expect(isPrintable(text)).toBe(true)
          expect(text.startsWith('key ')).toBe(false)
          const count = number && claims[number.claim]
          const found = partsOf(text)
          expect(found.join(' ')).toBe(text)
          expect(found).toHaveLength(Math.max(parts.filter((part) => claims[part]).length, 1) + (count ? 1 : 0))
          if (count) expect(found.pop()).toMatch(new RegExp(`^\\(${number.word} .*\\)$`))
          expect(found.filter((one) => !one.startsWith('"') && /[\s()"]/.test(one))).toEqual([])
        }),
      )
    },
  )
})
