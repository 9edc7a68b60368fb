import { describe, expect, test } from 'vitest'
import { lockoutIn } from '../../../../clients/core/src/words/lockout.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import type { KeySpec } from '../../../../lib/access/users/identity.ts'
import {
  lockoutsWarning,
  lockoutWarning,
  NARROWED,
  REPLACED,
  type Reviewer,
} from '../../../../lib/access/users/lockout.ts'

const agentOf = (...clusters: string[]): Scope => ({
  roles: [{ role: 'agent' }],
  clusters: clusters.map((cluster) => ({ cluster })),
})
const eu = agentOf('eu')

/** Returns a key with the right to review, unless another scope has it. */
const key = (spec: KeySpec, reviewScope = spec.scope, carried: Scope[] = []): Reviewer => ({
  spec,
  chain: spec.scope ? [...carried, spec.scope] : carried,
  ...(reviewScope && { reviewScope }),
})
const whole: KeySpec = { scope: eu, ttl: 86_400, sourceCIDRs: ['10.0.0.0/8', '203.0.113.7'] }
const warned = (next: KeySpec | undefined, before = key(whole)) =>
  lockoutWarning('access key "agent"', before, next && key(next))?.match(/once (.*), each cluster/)?.[1]

describe('a change of a key with the right to review is warned of', () => {
  test.each<[string, KeySpec | undefined]>([
    ['it is deleted', undefined],
    ['it is disabled', { ...whole, disabled: true }],
    ['it is narrowed', { ...whole, scope: agentOf('us') }],
    ['it is narrowed', { ...whole, scope: { clusters: [{ cluster: 'eu' }] } }],
    ['it is narrowed', { ...whole, scope: undefined as never }],
    ['its shorter life has ended', { ...whole, ttl: 86_399 }],
    ['it is limited to fewer addresses', { ...whole, sourceCIDRs: ['10.0.0.0/8'] }],
  ])('%s: %j', (end, next) => expect(warned(next)).toBe(end))

  test('if it limits what was not limited', () => {
    const { sourceCIDRs: _, ttl: __, ...unlimited } = whole
    expect(warned({ ...unlimited, ttl: 86_400 }, key(unlimited))).toBe('its shorter life has ended')
    expect(warned({ ...unlimited, sourceCIDRs: ['10.0.0.0/8'] }, key(unlimited))).toBe(
      'it is limited to fewer addresses',
    )
    const sliding = key({ ...whole, ttlAfterLastActivity: true })
    expect(warned(whole, sliding)).toBe('its shorter life has ended')
  })

  test('if its scope loses one of several entries', () =>
    expect(warned(whole, key({ ...whole, scope: agentOf('eu', 'us') }))).toBe('it is narrowed'))

  test('if its scope stays, but another one is added or the right is lost', () => {
    const added = key(whole, eu, [{ projects: [{ project: 'a' }] }])
    const lost = { ...key(whole), reviewScope: agentOf('us') }
    for (const after of [added, lost]) expect(lockoutWarning('k', key(whole), after)).toContain('once it is narrowed')
    expect(lockoutWarning('k', key(whole), key(whole), NARROWED)).toContain('once it is narrowed')
  })

  test('if its value is replaced at once, which its spec does not show, unless it is disabled with it', () => {
    expect(lockoutWarning('k', key(whole), key(whole), REPLACED)).toContain('once its value is replaced')
    expect(lockoutWarning('k', key(whole), key({ ...whole, disabled: true }), REPLACED)).toContain('it is disabled')
    expect(lockoutWarning('k', key(whole, agentOf('us')), key(whole), REPLACED)).toBeUndefined()
  })

  test('with the clusters that it names', () => {
    const named = (...clusters: string[]) =>
      lockoutWarning('access key "agent"', key({ scope: agentOf(...clusters) }), undefined)
    expect(named('eu')).toBe(
      'access key "agent" has the right to review: once it is deleted, each cluster that asks with it refuses all users of keyplane: eu',
    )
    expect(named('a', 'b', 'c', 'd', 'e')).toMatch(/keyplane: a, b, c, d, e$/)
    expect(named('a', 'b', 'c', 'd', 'e', 'f', 'g')).toMatch(/keyplane: a, b, c, d, e, 2 more$/)
    expect(named('*')).toMatch(/of keyplane$/)
    const scope = { roles: [{ role: 'vcluster' }], virtualClusters: [{ project: 'shop', virtualCluster: 'dev' }] }
    expect(lockoutWarning('k', key({ scope }), undefined)).toMatch(/: shop\/dev$/)
  })
})

describe('nothing is said of', () => {
  test.each<[string, KeySpec]>([
    ['the same', { ...whole }],
    ['a longer life', { ...whole, ttl: 172_800 }],
    ['no end', { ...whole, ttl: 0 }],
    ['more addresses', { ...whole, sourceCIDRs: ['10.0.0.0/7', '203.0.113.7'] }],
    ['every address', { ...whole, sourceCIDRs: [] }],
    ['more clusters', { ...whole, scope: agentOf('us', 'eu') }],
    ['every cluster', { ...whole, scope: agentOf('*') }],
  ])('%s', (_, next) => expect(warned(next)).toBeUndefined())

  test('a key without the right', () => {
    for (const before of [key(whole, agentOf('us')), { spec: whole, chain: [eu] }])
      expect([warned(undefined, before), warned({ ...whole, disabled: true }, before)]).toEqual([undefined, undefined])
  })
})

test('a revocation counts those with the right', () => {
  const keys = [key({ scope: eu }), key({ scope: agentOf('us', 'eu') }), key({ scope: agentOf('x') }, eu)]
  expect(lockoutsWarning('access keys', keys)).toBe(
    '2 of these access keys have the right to review: each cluster that asks with one refuses all users of keyplane from then on: eu, us',
  )
  expect(lockoutsWarning('trusts', keys.slice(0, 1))).toMatch(/^1 of these trusts has the right/)
  expect(lockoutsWarning('access keys', keys.slice(2))).toBeUndefined()
})

describe('clients find among the warnings', () => {
  const of = (scope: Scope) => [
    lockoutWarning('trust "ci"', key({ scope }), undefined) ?? '',
    lockoutsWarning('trusts', [key({ scope })]) ?? '',
  ]
  test.each([
    [agentOf('eu'), ['eu']],
    [agentOf('a', 'b', 'c', 'd', 'e', 'f', 'g'), ['a', 'b', 'c', 'd', 'e']],
    [agentOf('*'), []],
  ])('those that lock users out with %j, and the clusters %j', (scope, clusters) => {
    for (const text of of(scope)) expect(lockoutIn(['it expires soon', text, 'other'])).toEqual({ text, clusters })
  })

  test('none in others', () => {
    expect(lockoutIn([])).toBeUndefined()
    expect(lockoutIn(['the key "refuses all users of keyplane" is disabled'])).toBeUndefined()
  })
})
