import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import type { Key, KeySpec } from '../../../../lib/access/users/identity.ts'
import type { KeyChange } from '../../../../lib/access/users/outliving.ts'
import { forbiddenChange, forbiddenCreation } from '../../../../lib/access/users/privilege.ts'
import { isWithinCIDRs, unlimitedCredential, unlimitedReason } from '../../../../lib/access/users/sourcecidrs.ts'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import { aKey, alice, as, master } from '../users.ts'

const now = new Date('2026-11-21T12:00:00Z')
const office = ['10.0.0.0/8', '2001:db8::/32']
const scope: Scope = { projects: [{ project: 'a' }] }

/** Returns the user with a key that may be used only from these addresses. */
const from = (sourceCIDRs: readonly string[], user: UserInfo = alice): UserInfo => ({ ...user, sourceCIDRs })
const keyOf = (spec: KeySpec): Key => aKey({ user: 'alice', ...spec }, { uid: 'other' })
const changing = (user: UserInfo, old: Key, next: KeySpec, change: Partial<KeyChange> = {}) =>
  forbiddenChange(user, old, { user: 'alice', ...next }, { now, created: 0, isRotated: false, ...change })

const callers: [string, UserInfo][] = [
  ['a user', from(office)],
  ['system:masters', from(office, as({ user: 'alice', groups: ['system:masters'] }))],
]
const within: (string[] | undefined)[] = [office, ['10.1.2.3'], ['10.0.0.0/9', '10.128.0.0/9'], ['2001:db8:1::/48']]
const outside: (string[] | undefined)[] = [
  undefined,
  [],
  ['0.0.0.0/0'],
  ['192.0.2.1'],
  ['10.1.2.3', '192.0.2.1'],
  ['::/0'],
  ['10.0.0.0/7'],
  ['anything'],
]
const specOf = (sourceCIDRs: string[] | undefined): KeySpec => (sourceCIDRs ? { sourceCIDRs } : {})

describe.each(callers)('a limited key of %s', (_, caller) => {
  test.each(within.map((list) => ({ list })))('creates a key for $list', ({ list }) =>
    expect(forbiddenCreation(caller, specOf(list), { now })).toBeUndefined(),
  )

  test.each(outside.map((list) => ({ list })))('creates none for $list', ({ list }) =>
    expect(forbiddenCreation(caller, specOf(list), { now })).toBe(
      'spec.sourceCIDRs: the access key used is limited to source addresses and may not create one that can be used from other addresses',
    ),
  )

  const refusal =
    'the access key used is limited to source addresses and may not change an access key that can be used from other addresses'
  const cases = [...within, ...outside].flatMap((old) => [...within, ...outside].map((next) => ({ old, next })))
  // threat: use-12
  test.each(cases)('changes $old to $next only within its addresses', ({ old, next }) => {
    const isWithin = within.includes(old) && within.includes(next)
    for (const change of [{}, { isRotated: true }])
      expect(changing(caller, keyOf(specOf(old)), specOf(next), change)).toBe(isWithin ? undefined : refusal)
  })

  test('changes neither the value nor the scope nor the life of a key for other addresses', () => {
    const old = keyOf({ ttl: 60, scope, disabled: true })
    for (const next of [{ ttl: 50 }, { scope: {} }, { disabled: false }, { displayName: 'x' }] as KeySpec[])
      expect(changing(caller, old, { ...old.spec, ...next })).toBe(refusal)
    expect(changing(caller, old, old.spec, { isRotated: true })).toBe(refusal)
  })

  test('disables a key for other addresses, and changes nothing else of it', () => {
    expect(changing(caller, keyOf({ ttl: 60 }), { ttl: 60, disabled: true })).toBeUndefined()
    expect(changing(caller, keyOf({ ttl: 60 }), { ttl: 60, disabled: true }, { isRotated: true })).toBe(refusal)
    expect(changing(caller, keyOf({ ttl: 60 }), { ttl: 50, disabled: true })).toBe(refusal)
    expect(changing(caller, keyOf({ scope }), { disabled: true })).toBe(refusal)
  })

  test('changes itself, but does not widen itself', () => {
    const own = { ...keyOf({ sourceCIDRs: office }), uid: caller.key.uid }
    expect(changing(caller, own, { sourceCIDRs: office }, { isRotated: true })).toBeUndefined()
    expect(changing(caller, own, { sourceCIDRs: ['10.1.2.3'] })).toBeUndefined()
    expect(changing(caller, own, {})).toBe(refusal)
    expect(changing(caller, own, { sourceCIDRs: ['0.0.0.0/0'] })).toBe(refusal)
  })

  test('makes credentials for clusters with a warning', () => {
    expect(unlimitedCredential(caller, 'client certificate')).toEqual([
      'the client certificate is not limited to spec.sourceCIDRs',
    ])
    expect(unlimitedCredential(alice, 'client certificate')).toEqual([])
  })

  test('neither makes nor changes objects that make keys', () =>
    expect(unlimitedReason(caller, 'create an identity provider')).toBe(
      'the access key used is limited to source addresses and may not create an identity provider, whose keys could be used from other addresses',
    ))
})

describe('a key without limits', () => {
  test.each([
    ['a user', alice],
    ['system:masters', master],
  ])('of %s gives, widens and removes addresses', (_, caller) => {
    const spec = { user: caller.name }
    for (const list of [...within, ...outside]) {
      expect(forbiddenCreation(caller, { ...spec, ...specOf(list) }, { now })).toBeUndefined()
      const old = aKey({ ...spec, sourceCIDRs: office }, { uid: 'other' })
      const change = { now, created: 0, isRotated: true }
      expect(forbiddenChange(caller, old, { ...spec, ...specOf(list) }, change)).toBeUndefined()
    }
    expect(unlimitedReason(caller, 'create an identity provider')).toBeUndefined()
  })

  test('does not widen them if it has a scope', () => {
    const scoped = as({ user: 'alice', groups: ['system:masters'], scope })
    const old = { ...keyOf({ sourceCIDRs: office }), carried: [scope] }
    for (const next of outside)
      expect(changing(scoped, old, specOf(next))).toBe('an access key with a scope may not widen spec.sourceCIDRs')
    for (const next of within) expect(changing(scoped, old, specOf(next))).toBeUndefined()
    expect(changing(scoped, { ...old, spec: { user: 'alice' } }, { sourceCIDRs: office })).toBeUndefined()
  })
})

// The guarantee: no sequence of creations and changes gives a key that works where the first one does not.
// threat: use-12
test('no sequence of requests with limited keys reaches another address', () => {
  const list = fc.option(
    fc.array(fc.constantFrom('10.0.0.0/8', '10.0.0.0/9', '10.128.0.0/9', '10.1.2.3', '0.0.0.0/0', '::/0', '::1'), {
      maxLength: 3,
    }),
    { nil: undefined },
  )
  const step = fc.record({ creates: fc.boolean(), caller: fc.nat(3), target: fc.nat(3), list, isRotated: fc.boolean() })
  let allowed = 0
  fc.assert(
    fc.property(list, fc.array(step, { maxLength: 12 }), (first, steps) => {
      /** The lists of all keys, and whether the thief of the first one knows the value. */
      const keys: { list: string[] | undefined; known: boolean }[] = [
        { list: first?.length ? first : ['10.0.0.0/8'], known: true },
        { list: undefined, known: false },
        { list: ['10.1.2.3'], known: false },
      ]
      const reach = keys[0]?.list ?? []
      for (const { creates, caller, target, list, isRotated } of steps) {
        const held = keys[caller % keys.length]
        if (!held?.known || held.list === undefined) continue
        const user = from(held.list)
        if (creates) {
          const next = list?.length ? list : held.list
          if (forbiddenCreation(user, specOf(next), { now }) === undefined) keys.push({ list: next, known: true })
          continue
        }
        const key = keys[target % keys.length]
        if (!key || changing(user, keyOf(specOf(key.list)), specOf(list), { isRotated }) !== undefined) continue
        allowed++
        Object.assign(key, { list, known: key.known || isRotated })
      }
      for (const { list, known } of keys) {
        if (!known) continue
        for (const address of ['10.1.2.3', '10.200.0.1', '192.0.2.1', '::1', '2001:db8::1'])
          if (!list?.length || isWithinCIDRs(address, list)) expect(isWithinCIDRs(address, reach)).toBe(true)
      }
    }),
    { numRuns: 2000 },
  )
  expect(allowed).toBeGreaterThan(100)
})
