import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { containsChain } from '../../../../lib/access/scopes/chain.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import {
  effectiveUser,
  identityOf,
  type Key,
  type KeySpec,
  ownIdentities,
  usernameOf,
} from '../../../../lib/access/users/identity.ts'
import { endOfAccess, type KeyChange, lastingReason } from '../../../../lib/access/users/outliving.ts'
import {
  addedScopes,
  chainAfterChange,
  effectiveChain,
  forbiddenChange,
  forbiddenCreation,
  inheritedChain,
  maySeeKey,
  visiblePartitions,
} from '../../../../lib/access/users/privilege.ts'
import type { Identity, UserInfo } from '../../../../lib/access/users/user.ts'
import { validateIdentity } from '../../../../lib/access/users/validateidentity.ts'
import { played, runs } from '../../../support/effort.ts'
import { aKey, alice, as, holderOf, master } from '../users.ts'
import cases from './vectors/privilege.cases.json' with { type: 'json' }

const S: Scope = { projects: [{ project: 'a' }], rules: [{ resources: [{ group: 'management.platform' }] }] }
const T: Scope = { clusters: [{ cluster: 'c' }] }

/** Returns why a change is refused. By default it changes only the spec. */
const changing = (user: UserInfo, old: Key, next: KeySpec, change: Partial<KeyChange> = {}) =>
  forbiddenChange(user, old, next, { now: new Date(0), created: 0, isRotated: false, ...change })

describe('the identity of a key', () => {
  const rows: [KeySpec, string, string[]][] = [
    [{ user: 'alice', team: 'dev', subject: 's' }, 'alice', ['system:authenticated', 'team:dev']],
    [{ team: 'dev', subject: 's', groups: ['x'] }, 'team:dev', ['x', 'system:authenticated', 'team:dev']],
    [{ subject: 's' }, 'subject:s', ['system:authenticated']],
    [{}, 'admin', ['system:authenticated']],
    [{ user: '', team: '', subject: '' }, 'admin', ['system:authenticated']],
    [{ groups: ['system:authenticated', 'x', 'x'] }, 'admin', ['system:authenticated', 'x']],
  ]
  test.each(rows)('with spec %j is %s', (spec, name, groups) => {
    expect(effectiveUser({ spec, creator: 'user:admin' })).toMatchObject({ name, groups })
  })

  // threat: users-12
  test('has a unique username that reveals its kind', () => {
    const name = fc
      .string({ minLength: 1, maxLength: 12 })
      .filter((text) => validateIdentity({ user: text }).length === 0)
    const identity = fc
      .tuple(fc.constantFrom('user', 'team', 'subject'), name)
      .map(([what, of]) => `${what}:${of}` as Identity)
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(usernameOf(one) === usernameOf(other)).toBe(one === other)
        expect(identityOf({ name: usernameOf(one), key: { name: 'k', uid: 'u', type: '' } })).toBe(one)
      }),
    )
  })

  test('is the team for a key created by a team key', () => {
    const key = aKey({}, { creator: identityOf(as({ team: 'dev' })) })
    expect(effectiveUser(key)).toEqual({
      name: 'team:dev',
      identity: 'team:dev',
      groups: ['system:authenticated', 'team:dev'],
    })
    expect(maySeeKey(as({ team: 'dev' }), key)).toBe(true)
    expect([maySeeKey(as({ user: 'bob', groups: ['team:dev'] }), key), maySeeKey(alice, key)]).toEqual([true, false])
  })

  // threat: users-20
  test('is not affected by data fields', () => {
    const spec = {
      identity: { groups: ['system:masters'], username: 'root' },
      parent: 'root',
      oidcLogin: {},
    } as KeySpec
    expect(effectiveUser({ spec, creator: 'user:bob' })).toEqual({
      name: 'bob',
      identity: 'user:bob',
      groups: ['system:authenticated'],
    })
  })
})

describe('visibility of keys', () => {
  test('includes keys by user, team group, subject and creator, and no others', () => {
    expect([maySeeKey(alice, aKey({ user: 'alice' })), maySeeKey(alice, aKey({ user: 'bob' }))]).toEqual([true, false])
    expect(maySeeKey(as({ user: 'bob', team: 'dev' }), aKey({ team: 'dev' }))).toBe(true)
    expect(maySeeKey(alice, aKey({ team: 'dev' }))).toBe(false)
    expect(maySeeKey(as({ subject: 's' }), aKey({ subject: 's' }))).toBe(true)
    expect(maySeeKey(alice, aKey({}, { creator: 'user:alice' }))).toBe(true)
  })

  test('excludes another user’s key from members of the same team', () =>
    expect(maySeeKey(as({ user: 'carol', team: 'dev' }), aKey({ user: 'bob', team: 'dev' }))).toBe(false))

  // threat: users-11
  test('distinguishes a subject from a user of the same name', () => {
    const subject = as({ subject: 'alice' })
    expect([subject.name, maySeeKey(subject, aKey({ user: 'alice' }))]).toEqual(['subject:alice', false])
    expect(maySeeKey(subject, aKey({}, { creator: 'user:alice' }))).toBe(false)
    expect(maySeeKey(alice, aKey({ subject: 'alice' }))).toBe(false)
    expect(forbiddenCreation(subject, { user: 'alice' }, { now: new Date(0) })).toMatch(/^spec\.user/)
    const made = as({}, { creator: identityOf(subject) })
    expect(maySeeKey(made, aKey({ user: 'alice' }))).toBe(false)
    expect(maySeeKey(made, aKey({ subject: 'alice' }))).toBe(true)
  })

  test('includes all keys for system:masters, or only their own if the scope says so', () => {
    expect([visiblePartitions(master), visiblePartitions(master, true)]).toEqual([undefined, ['user:admin']])
    expect(maySeeKey(master, aKey({ user: 'bob' }))).toBe(true)
    expect(maySeeKey(master, aKey({ user: 'bob' }), true)).toBe(false)
    expect(visiblePartitions(as({ user: 'bob', team: 'dev', groups: ['team:ops', 'team:', 'x'] }))).toEqual([
      'user:bob',
      'team:ops',
      'team:dev',
    ])
  })

  test('derives the identity from the key when the user has none', () => {
    const { identity: _, ...bare } = as({ subject: 's' })
    expect(ownIdentities(bare)).toEqual(['subject:s'])
    expect(identityOf({ name: 'team:dev', key: { name: 'k', uid: 'u', type: '' } })).toBe('team:dev')
    expect(identityOf({ name: 'bob', key: { name: 'k', uid: 'u', type: '' } })).toBe('user:bob')
  })
})

describe('creating keys', () => {
  const now = new Date('2026-11-21T12:00:00.900Z')
  const noon = now.getTime() / 1000 - 0.9
  const refused: [KeySpec, RegExp][] = [
    [{ user: 'bob' }, /^spec\.user/],
    [{ user: 'admin' }, /^spec\.user/],
    [{ team: 'dev' }, /^spec\.team/],
    [{ subject: 'alice' }, /^spec\.subject/],
    [{ user: 'alice', subject: 'bob' }, /^spec\.subject/],
    [{ user: 'alice', team: 'ops' }, /^spec\.team/],
    [{ groups: ['dev', 'ops'] }, /^spec\.groups: "alice" is not in group "ops"/],
    [{ groups: ['system:masters'] }, /^spec\.groups/],
    [{ groups: ['team:dev'] }, /^spec\.groups/],
    ...['Login', 'Reset', 'OIDCRefreshToken', 'NetworkPeer', 'Workspace', 'constructor'].map(
      (type): [KeySpec, RegExp] => [{ type }, /^spec\.type/],
    ),
  ]
  test.each(refused)('refuses %j', (spec, why) => {
    expect(forbiddenCreation(alice, spec, { now })).toMatch(why)
    expect(forbiddenCreation(master, spec, { now })).toBeUndefined()
  })

  test.each(cases.allowed as [KeySpec][])('allows %j', (spec) =>
    expect(forbiddenCreation(alice, spec, { now })).toBeUndefined(),
  )

  // threat: users-9
  test('passes the chain of a scoped caller on, even for system:masters', () => {
    const caller = as({ user: 'admin', groups: ['system:masters'], scope: T }, { carried: [S] })
    const made = aKey({ user: 'bob' }, { carried: inheritedChain(caller) })
    expect(holderOf(made).chain).toEqual([S, T])
  })

  // Otherwise, anyone who found a short-lived key could create a key without expiry.
  describe('with an expiring key', () => {
    const ending = (user: UserInfo, key: Partial<UserInfo['key']> = {}): UserInfo => ({
      ...user,
      key: { ...user.key, expires: noon + 100, ...key },
    })
    const longer: KeySpec[] = [{}, { ttl: 0 }, { ttl: 101 }, { ttl: 101n }, { ttl: 5, ttlAfterLastActivity: true }]
    const why =
      'spec.ttl: the access key used expires at 2026-11-21T12:01:40Z and may not create one that could outlive it'

    // threat: use-17
    test.each([
      ['a user', alice],
      ['a user with a scope', as({ user: 'alice', scope: S })],
      ['system:masters with a scope', as({ user: 'admin', groups: ['system:masters'], scope: S })],
    ])('of %s creates none that could outlive it', (_, user) => {
      for (const spec of longer) {
        expect(forbiddenCreation(ending(user), spec, { now })).toBe(why)
        expect(forbiddenCreation(user, spec, { now })).toBeUndefined()
      }
      expect(forbiddenCreation(ending(user), { ttl: 100 }, { now })).toBeUndefined()
      // The maximum limits every ttl.
      expect(forbiddenCreation(ending(user), {}, { now, maxTtl: 100 })).toBeUndefined()
      expect(forbiddenCreation(ending(user), {}, { now, maxTtl: 101 })).toBe(why)
    })

    test('allows any key for unscoped system:masters', () => {
      for (const spec of longer) expect(forbiddenCreation(ending(master), spec, { now })).toBeUndefined()
    })

    // Only the service creates keys of type Login, for users who have just signed in.
    // threat: use-17
    test('allows an unscoped Login key to create any key for 15 minutes after the sign-in', () => {
      const login = (since: number, user = alice): UserInfo => ({
        ...ending(user, { type: 'Login' }),
        credential: { version: '1', hash: 'h', created: noon, signedIn: noon - since },
      })
      for (const spec of longer) {
        expect(forbiddenCreation(login(899), spec, { now })).toBeUndefined()
        expect(forbiddenCreation(login(900), spec, { now })).toBe(`${why}; sign in again`)
        expect(forbiddenCreation(login(0, as({ user: 'alice', scope: S })), spec, { now })).toBe(why)
        expect(forbiddenCreation({ ...login(0), key: ending(alice).key }, spec, { now })).toBe(why)
        expect(forbiddenCreation(ending(alice, { type: 'Login' }), spec, { now })).toBe(`${why}; sign in again`)
        // Keys of earlier releases do not say since when.
        const stored = { ...login(0), credential: { version: '1', hash: 'h', created: noon } }
        expect(forbiddenCreation(stored, spec, { now })).toBe(`${why}; sign in again`)
      }
    })

    const other = aKey({ user: 'alice' }, { uid: 'other' })
    const moment = { now, created: noon - 1000 }
    const refusal = (what: string) =>
      `the access key used expires at 2026-11-21T12:01:40Z and may not ${what} of one that could outlive it`

    // threat: use-17
    test('cannot extend any key beyond its own expiry, not even itself', () => {
      const own = aKey({ user: 'alice', ttl: 1100 }, { uid: alice.key.uid })
      for (const old of [own, aKey({ user: 'alice', ttl: 10 }), aKey({ user: 'alice', disabled: true })]) {
        for (const next of longer) {
          const spec = {
            user: 'alice',
            ...next,
            ...(next.ttl === 101 && { ttl: 1101 }),
            ...(next.ttl === 101n && { ttl: 1101n }),
          }
          expect(changing(ending(alice), old, spec, moment)).toBe(refusal('extend the lifetime'))
          expect(changing(alice, old, spec, moment)).toBeUndefined()
          expect(changing(ending(as({ user: 'alice', groups: ['system:masters'] })), old, spec, moment)).toBeUndefined()
        }
      }
      expect(
        changing(ending(alice), aKey({ user: 'alice', ttl: 10 }), { user: 'alice', ttl: 1100 }, moment),
      ).toBeUndefined()
    })

    // threat: use-17
    test('cannot change the value or scope of a longer-lived key', () => {
      const rotated = { ...moment, isRotated: true }
      expect(changing(ending(alice), other, other.spec, rotated)).toBe(refusal('change the value'))
      expect(changing(alice, other, other.spec, rotated)).toBeUndefined()
      const scoped = aKey({ user: 'alice', scope: S }, { uid: 'other' })
      for (const next of [{ user: 'alice' }, { user: 'alice', scope: T }]) {
        expect(changing(ending(alice), scoped, next, moment)).toBe(refusal('change the scope'))
        expect(changing(alice, scoped, next, moment)).toBeUndefined()
      }
      const short = aKey({ user: 'alice', ttl: 1100 }, { uid: 'other' })
      expect(changing(ending(alice), short, short.spec, rotated)).toBeUndefined()
    })

    describe('a value that was rotated limits every user', () => {
      const retiring = (user: UserInfo): UserInfo => ({
        ...user,
        credential: { version: '1', hash: 'h', created: noon, until: noon + 100 },
      })
      const login = as({ user: 'alice', type: 'Login' })
      const everybody = [alice, master, login, as({ user: 'alice', scope: S }), ending(alice, { expires: noon + 999 })]
      const mayNot = 'the value of the access key used was rotated, ends at 2026-11-21T12:01:40Z and may not'

      // threat: rotation-12
      test.each(everybody)('and creates none that could outlive it', (user) => {
        for (const spec of longer) expect(forbiddenCreation(retiring(user), spec, { now })).toContain(mayNot)
        expect(forbiddenCreation(retiring(user), { ttl: 100 }, { now })).toBeUndefined()
        expect(lastingReason(retiring(user), now, 'create a trust')).toContain(`${mayNot} create a trust`)
        expect(endOfAccess(retiring(user))).toEqual({ expires: noon + 100 })
        expect(forbiddenCreation(retiring(ending(user, { expires: noon + 9 })), {}, { now })).toMatch(/T12:0[01]:/u)
      })

      // threat: rotation-12
      test('so that nothing that it makes is exempt from its own end', () => {
        const exempt = { user: 'admin', groups: ['system:masters'], ttl: 50 }
        expect(forbiddenCreation(retiring(master), exempt, { now })).toContain(mayNot)
        expect(forbiddenCreation(retiring(master), { ...exempt, scope: S }, { now })).toBeUndefined()
        const short = aKey({ user: 'admin', ttl: 1050 }, { uid: 'other' })
        const made = aKey(exempt, { uid: 'other' })
        const at = { now, created: noon - 1000 }
        expect(changing(retiring(master), short, { ...short.spec, groups: ['system:masters'] }, at)).toContain(mayNot)
        expect(changing(retiring(master), made, made.spec, { ...at, isRotated: true })).toContain(mayNot)
        expect(changing(retiring(master), made, { ...made.spec, disabled: true }, at)).toBeUndefined()
      })

      // threat: rotation-12
      test('and gives no longer-lived key more, not even with system:masters', () => {
        const old = aKey({ user: 'alice', sourceCIDRs: ['192.0.2.1'] }, { uid: 'other' })
        const at = { now, created: noon }
        const spec = { ...old.spec }
        for (const next of [{ groups: ['dev'] }, { user: 'bob' }, { sourceCIDRs: [] }, { subject: 'x' }]) {
          expect(changing(retiring(master), old, { ...spec, ...next }, at)).toContain(`${mayNot} change spec.`)
        }
        expect(changing(retiring(master), old, spec, { ...at, isRotated: true })).toContain('change the value')
        for (const next of [{ disabled: true }, { scope: S }, { ttl: 50 }, { displayName: 'x' }]) {
          expect(changing(retiring(master), old, { ...spec, ...next }, at)).toBeUndefined()
        }
      })
    })

    test('can disable or restrict a longer-lived key, and rotate itself', () => {
      for (const next of [{ disabled: true }, { scope: S }, { ttl: 5000 }, { displayName: 'x' }]) {
        expect(changing(ending(alice), other, { user: 'alice', ...next }, moment)).toBeUndefined()
      }
      const sliding = aKey({ user: 'alice', ttl: 60, ttlAfterLastActivity: true }, { uid: alice.key.uid })
      expect(changing(ending(alice), sliding, sliding.spec, { ...moment, isRotated: true })).toBeUndefined()
    })
  })

  // The guarantee: no sequence of creations gives anyone groups or an identity that they did not start with.
  // threat: users-7
  test('never grants the holder of a created key more than its creator has', () => {
    const name = fc.constantFrom('', 'alice', 'bob', 'dev')
    const spec: fc.Arbitrary<KeySpec> = fc.record(
      {
        user: name,
        team: name,
        subject: name,
        type: fc.constantFrom('', 'User', 'Login'),
        groups: fc.array(fc.constantFrom('dev', 'team:dev', 'team:bob', 'system:masters', 'x'), { maxLength: 2 }),
        scope: fc.constantFrom<Scope>(S, T, {}),
      },
      { requiredKeys: [] },
    )
    let made = 0
    fc.assert(
      fc.property(spec, spec, (first, second) => {
        const maker = as({ ...first, groups: (first.groups ?? []).filter((group) => group !== 'system:masters') })
        if (forbiddenCreation(maker, second, { now }) !== undefined) return
        made++
        const holder = holderOf(aKey(second, { creator: identityOf(maker), carried: inheritedChain(maker) }))
        expect(maker.groups).toEqual(expect.arrayContaining(holder.groups))
        expect(ownIdentities(maker)).toEqual(expect.arrayContaining(ownIdentities(holder)))
        expect(containsChain(holder.chain, maker.chain)).toBe(true)
      }),
      runs(3000),
    )
    expect(made).toBeGreaterThan(played(100))
  })
})

describe('changing keys', () => {
  // threat: users-8
  test('allows only system:masters to change privileges, even to reduce or reorder them', () => {
    const old = aKey({ user: 'alice', groups: ['dev', 'system:authenticated'], type: 'User' })
    const changes: [string, KeySpec][] = [
      ['user', { user: '' }],
      ['team', { team: 'dev' }],
      ['subject', { subject: 'alice' }],
      ['groups', { groups: ['dev'] }],
      ['groups', { groups: [] }],
      ['groups', { groups: ['system:authenticated', 'dev'] }],
      ['type', { type: 'Other' }],
    ]
    for (const [member, change] of changes) {
      expect(changing(alice, old, { ...old.spec, ...change })).toBe(`only system:masters may change spec.${member}`)
      expect(changing(master, old, { ...old.spec, ...change })).toBeUndefined()
    }
    expect(changing(alice, aKey({ user: 'alice', groups: [], type: '' }), { user: 'alice' })).toBeUndefined()
  })

  // threat: users-8
  test('applies the rules for creation: refuses to rotate a key with more groups or a managed type', () => {
    const strong = aKey({ user: 'alice', groups: ['system:masters'] })
    expect(changing(alice, strong, { ...strong.spec })).toMatch(/^spec\.groups/)
    const login = aKey({ user: 'alice', type: 'Login' })
    expect(changing(alice, login, { ...login.spec })).toMatch(/^spec\.type/)
    const team = aKey({ user: 'alice', team: 'ops' })
    expect(changing(alice, team, { ...team.spec })).toMatch(/^spec\.team/)
  })

  test('allows an unscoped owner to change scope and lifetime', () => {
    const old = aKey({ user: 'alice', scope: S, ttl: 5, disabled: true })
    expect(changing(alice, old, { user: 'alice' })).toBeUndefined()
  })

  test('never changes the inherited chain', () => {
    const old = aKey({ user: 'alice', scope: T }, { carried: [S] })
    expect(chainAfterChange(alice, old, { user: 'alice' })).toEqual({ carried: [S] })
  })
})

describe.each([
  ['a user', ['dev']],
  ['system:masters', ['system:masters']],
])('%s with a scoped key', (_, groups) => {
  const own = aKey({ user: 'alice', groups, scope: S, ttl: 100 }, { uid: 'own' })
  const caller = holderOf(own)

  test('refuses a scoped caller a key without its chain', () => {
    const why = 'the access key used has a scope that this access key does not inherit'
    expect(changing(caller, aKey({ user: 'alice' }), { user: 'alice', disabled: true })).toBe(why)
    expect(changing(caller, aKey({ user: 'alice', scope: T }), { user: 'alice', scope: S })).toBe(why)
    const nobody = holderOf({ ...own, uid: '' })
    expect(changing(nobody, aKey({ user: 'alice' }, { uid: '' }), { user: 'alice' })).toBe(why)
  })

  test('allows a scoped caller a key with its chain', () => {
    for (const other of [aKey({ user: 'alice', scope: S }), aKey({ user: 'alice', scope: T }, { carried: [S] })]) {
      expect(changing(caller, other, { ...other.spec, disabled: true })).toBeUndefined()
    }
  })

  test('allows a scoped caller its own key, even if narrowed meanwhile, and keeps its chain', () => {
    const narrowed = { ...own, spec: { ...own.spec, scope: T } }
    expect(changing(caller, narrowed, { ...narrowed.spec, disabled: true })).toBeUndefined()
    expect(chainAfterChange(caller, narrowed, narrowed.spec)).toEqual({ carried: [S], born: 0 })
  })

  test('refuses to remove a scope and adds any replacement, including {} and {rules: [{}]}, to the chain', () => {
    const { scope: _removed, ...unscoped } = own.spec
    expect(changing(caller, own, unscoped)).toBe('an access key with a scope may not remove spec.scope')
    expect(changing(caller, own, {})).toBe('an access key with a scope may not remove spec.scope')
    for (const scope of [{}, T, { rules: [{}] }]) {
      const next = { ...own.spec, scope }
      expect(changing(caller, own, next)).toBeUndefined()
      const { carried, born } = chainAfterChange(caller, own, next)
      expect([carried, born]).toEqual([[S], 0])
      expect(effectiveChain({ spec: next, carried })).toEqual([S, scope])
    }
    expect(chainAfterChange(caller, own, { ...own.spec, ttl: 5 })).toEqual({ carried: [] })
  })

  test('keeps what a key was born with when the scopes that were added are dropped, by nobody with a scope', () => {
    const old = { ...aKey({ user: 'alice', scope: {} }, { carried: [S, T] }), born: 1 }
    const next = { ...old.spec, dropAddedScopes: true }
    expect(addedScopes(old)).toEqual([T])
    expect(chainAfterChange(alice, old, next)).toEqual({ carried: [S] })
    expect(changing(alice, old, next)).toBeUndefined()
    expect(changing(caller, old, next)).toBe('an access key with a scope may not drop scopes that were added')
  })

  // threat: use-17
  test('refuses to extend a lifetime, even of an expired key', () => {
    const why = 'an access key with a scope may not extend the lifetime of an access key'
    const changes: KeySpec[] = [
      { ttl: 101 },
      { ttl: 0 },
      { ttlAfterLastActivity: true },
      { ttl: 50, ttlAfterLastActivity: true },
    ]
    for (const change of changes) expect(changing(caller, own, { ...own.spec, ...change })).toBe(why)
    const { ttl: _ttl, ...endless } = own.spec
    expect(changing(caller, own, endless)).toBe(why)
    expect(changing(caller, own, { ...own.spec, ttl: 100n })).toBeUndefined()
    expect(changing(caller, own, { ...own.spec, ttl: 99 })).toBeUndefined()
  })

  // The guarantee: whatever a scoped caller writes, the key's chain still contains the caller's chain.
  // threat: users-9
  test('never results in a key without the caller’s chain', () => {
    const scope = fc.constantFrom<Scope | undefined>(undefined, S, T, {}, { rules: [{}] })
    let changed = 0
    fc.assert(
      fc.property(scope, fc.subarray([S, T]), scope, fc.boolean(), (before, carried, after, isOwn) => {
        const spec = (value: Scope | undefined): KeySpec => ({ user: 'alice', ...(value && { scope: value }) })
        const old = aKey(spec(before), { uid: isOwn ? 'own' : 'other', carried })
        if (changing(caller, old, spec(after)) !== undefined) return
        changed++
        const { carried: kept } = chainAfterChange(caller, old, spec(after))
        expect(containsChain(kept, old.carried)).toBe(true)
        expect(containsChain(effectiveChain({ spec: spec(after), carried: kept }), caller.chain)).toBe(true)
      }),
      runs(500),
    )
    expect(changed).toBeGreaterThan(played(50))
  })
})

describe('the identity in a spec', () => {
  test.each<[KeySpec, string[]]>([
    [{ user: 'system:admin' }, [`spec.user: Invalid value: "system:admin": may not begin with 'system:'`]],
    [{ user: 'team:x', subject: 'team:y' }, ['spec.user', 'spec.subject']],
    [{ subject: 'system:' }, ['spec.subject']],
    [{ user: 'subject:x', subject: 'subject:y' }, ['spec.user', 'spec.subject']],
    [{ team: 'x'.repeat(300) }, ['spec.team: Too long']],
    [{ user: 'a\nb' }, ['spec.user: Invalid value: "a\\nb": may only have printable characters']],
    [{ user: 'a\u202eb', team: 'a\u0000', groups: ['\u200b'] }, ['spec.user', 'spec.team', 'spec.groups[0]']],
    [{ groups: ['', 'x'] }, ['spec.groups[0]: Required value']],
    [{ groups: Array.from({ length: 65 }, () => 'x') }, ['spec.groups: Too many: 65']],
    [{ groups: ['x'.repeat(600), 'y'.repeat(600)] }, ['spec.groups: Too long']],
    [{ user: 'alice@example.com', team: 'Dev Ops', subject: 'ünï', groups: ['system:masters'] }, []],
  ])('is validated: %j', (spec, expected) => {
    const found = validateIdentity(spec).map(({ field, message }) => `${field}: ${message}`)
    expect(found).toHaveLength(expected.length)
    for (const [index, text] of expected.entries()) expect(found[index]).toContain(text)
  })
})
