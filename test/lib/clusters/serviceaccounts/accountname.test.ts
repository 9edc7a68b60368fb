import { expect, test } from 'vitest'
import type { Identity } from '../../../../lib/access/users/user.ts'
import { accountFor, accountName, isViewer } from '../../../../lib/clusters/serviceaccounts/accountname.ts'
import { played, seed } from '../../../support/effort.ts'

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

test.each([
  ['user:alice', 'user.alice'],
  ['team:alice', 'team.alice'],
  ['subject:42', 'subject.42'],
  [`user:${'a'.repeat(63)}`, `user.${'a'.repeat(63)}`],
] as const)('the account of %s is %s', (identity, name) => {
  expect(accountName(identity)).toBe(name)
})

test.each([
  ['user:alice@example.com', /^user\.alice-example-com\.[0-9a-f]{32}$/],
  ['user:Alice', /^user\.alice\.[0-9a-f]{32}$/],
  ['user:Ålice', /^user\.lice\.[0-9a-f]{32}$/],
  ['user:愛', /^user\.[0-9a-f]{32}$/],
  [`user:${'a'.repeat(64)}`, /^user\.a{40}\.[0-9a-f]{32}$/],
  [`subject:${'a.'.repeat(500)}`, /^subject\.(a-){19}a\.[0-9a-f]{32}$/],
] as const)('the account of %s has a readable part and a digest', (identity, form) => {
  expect(accountName(identity)).toMatch(form)
})

/** A deterministic sequence of numbers below `bound`. */
function random(first: number) {
  let state = first
  return (bound: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

// What is near to each other: other cases, separators, prefixes of another type, names that imitate the other form.
const PARTS = ['a', 'A', 'b', '-', '.', '_', '@', '/', ':', ' ', 'ä', 'a\u0308', '\0', 'user', 'team.', '0'.repeat(32)]
const PARTS_TOO = ['.view', 'view', '\ud800', '\udfff', '\ufffd', '\u00e4']

const eu = { type: 'cluster', name: 'eu' } as const
const options = { projectNamespacePrefix: 'p-' }
const VIEW = [{ roles: [{ role: 'view' }], clusters: [{ cluster: 'eu' }] }]

// threat: exchange-36
test.each([
  ['user:alice', 'user.alice.view'],
  ['user:view', 'user.view.view'],
  ['user:alice.view', /^user\.alice-view\.[0-9a-f]{32}\.view$/],
] as const)('the account with which %s reads is %s', (identity, name) => {
  expect(accountFor(identity, VIEW, eu, options)).toEqual(typeof name === 'string' ? name : expect.stringMatching(name))
  expect(accountFor(identity, [], eu, options)).toBe(accountName(identity))
  expect(accountFor(identity, [{}], eu, options)).toBe(undefined)
})

// threat: exchange-36
test('a user called alice.view is no other identity', () =>
  expect(accountName('user:alice.view')).toMatch(/^user\.alice-view\.[0-9a-f]{32}$/))

// threat: exchange-36
test('no two identities share an account, and every name is one of Kubernetes', () => {
  const next = random(seed)
  const parts = [...PARTS, ...PARTS_TOO]
  const identities = new Set<Identity>()
  while (identities.size < played(200_000)) {
    const name = Array.from({ length: 1 + next(7) }, () => parts[next(parts.length)]).join('')
    const type = (['user', 'team', 'subject'] as const)[next(3)] ?? 'user'
    identities.add(`${type}:${name}`)
  }
  const names = new Set<string>()
  let wrong = 0
  for (const identity of identities) {
    for (const chain of [[], VIEW]) {
      const name = accountFor(identity, chain, eu, options) ?? ''
      names.add(name)
      if (name.length > 253 || !SUBDOMAIN.test(name) || isViewer(name) !== (chain === VIEW)) wrong++
    }
  }
  expect([names.size, wrong]).toEqual([2 * identities.size, 0])
})

// threat: exchange-36
test('a name that has the form of another account does not get it', () => {
  const [, digest] = /\.([0-9a-f]{32})$/.exec(accountName('user:alice@example.com')) ?? []
  for (const imitation of [`alice-example-com.${digest}`, `alice-example-com-${digest}`, `${digest}`])
    expect(accountName(`user:${imitation}`)).not.toBe(accountName('user:alice@example.com'))
})
