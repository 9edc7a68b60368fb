import { describe, expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import {
  addedCauses,
  besidesEnds,
  closedBy,
  endOfIssued,
  endsAccess,
  endsByField,
  type IssuerChange,
  lengthens,
  lifeIn,
  onlyEnds,
  timeOfIssue,
} from '../../../../lib/access/users/ends.ts'
import type { KeySpec } from '../../../../lib/access/users/identity.ts'

const open = { deleted: false, disabled: false }
const disabled = { deleted: false, disabled: true }
const deleted = { deleted: true, disabled: false }
const both = { deleted: true, disabled: true }

describe('what ends access', () => {
  test('is a deletion before a disabling', () => {
    expect([open, disabled, deleted, both].map(closedBy)).toEqual([undefined, 'Disabled', 'Terminating', 'Terminating'])
  })

  test('is read from the object', () => {
    const object = { apiVersion: 'v1', kind: 'K', metadata: {} }
    expect(lifeIn(object)).toEqual(open)
    expect(lifeIn({ ...object, spec: { disabled: false } })).toEqual(open)
    expect(lifeIn({ ...object, spec: { disabled: true } })).toEqual(disabled)
    expect(lifeIn({ ...object, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toEqual(deleted)
  })

  test('ends it once', () => {
    const rows = [open, disabled, deleted, both].map((before) =>
      [open, disabled, deleted, both].map((after) => endsAccess(before, after)),
    )
    const [fromOpen, ...others] = rows
    expect(fromOpen).toEqual([false, true, true, true])
    expect(others.flat()).not.toContain(true)
  })

  test('is announced once for each cause', () => {
    expect(addedCauses(open, both)).toEqual(['Terminating', 'Disabled'])
    expect(addedCauses(disabled, both)).toEqual(['Terminating'])
    expect(addedCauses(both, disabled)).toEqual([])
  })

  test('is a value of a field', () => {
    expect(endsByField('disabled', true)).toBe(true)
    expect(endsByField('disabled', false)).toBe(false)
    expect(endsByField('ttl', true)).toBe(false)
    expect(endsByField('constructor', true)).toBe(false)
    expect(besidesEnds({ disabled: true, ttl: 5 })).toEqual({ ttl: 5 })
  })

  test.each<[KeySpec, KeySpec, boolean]>([
    [{}, { disabled: true }, true],
    [{ disabled: false }, { disabled: true }, true],
    [{ disabled: true }, { disabled: true }, true],
    [{ disabled: true }, {}, false],
    [{}, {}, false],
    [{ ttl: 5 }, { disabled: true }, false],
    [{}, { disabled: true, ttl: 5 }, false],
  ])('is all of the change from %j to %j: %j', (old, next, expected) => {
    expect(onlyEnds(old, next)).toBe(expected)
  })
})

test('lengthens detects every extension of a lifetime', () => {
  const rows: [KeySpec, KeySpec, boolean][] = [
    [{}, {}, false],
    [{}, { ttl: 5, ttlAfterLastActivity: true }, false],
    [{ ttl: 0 }, { ttlAfterLastActivity: true }, false],
    [{ ttl: 5 }, {}, true],
    [{ ttl: 5 }, { ttl: 6 }, true],
    [{ ttl: 5 }, { ttl: 2n ** 60n }, true],
    [{ ttl: 5, ttlAfterLastActivity: true }, { ttl: 5 }, false],
    [{ ttl: 5, ttlAfterLastActivity: true }, { ttl: 6 }, true],
    [{ disabled: true }, {}, true],
    [{ disabled: true }, { disabled: true }, false],
    [{}, { disabled: true }, false],
  ]
  for (const [old, next, expected] of rows) expect(lengthens(old, next)).toBe(expected)
})

const S: Scope = { projects: [{ project: 'shop' }] }
const NOW = 1000
const EARLIER = 900

/** Returns until when what was issued ends. By default nothing else changes. */
const ended = (old: KeySpec, next: KeySpec, change: Partial<IssuerChange> = {}) =>
  endOfIssued({ old, next, revives: false, dropsScopes: false, replaces: false, now: NOW, ...change })

describe('what a key has issued', () => {
  test.each<[string, KeySpec, KeySpec]>([
    ['the key is disabled', {}, { disabled: true }],
    ['the key becomes another user’s', { user: 'alice' }, { user: 'bob' }],
    ['the key becomes its creator’s', { user: 'alice' }, {}],
    ['the key becomes a team’s', { user: 'alice' }, { user: 'alice', team: 'dev' }],
    ['the key becomes another subject’s', { subject: 'a' }, { subject: 'b' }],
    ['the key leaves a group', { groups: ['a', 'b'] }, { groups: ['b'] }],
    ['the key leaves all groups', { groups: ['a'] }, {}],
  ])('ends when %s', (_, old, next) => {
    expect(ended(old, next)).toBe(NOW)
  })

  test('ends when the key gives access again, drops scopes, or gets another value', () => {
    expect(ended({}, {}, { revives: true })).toBe(NOW)
    expect(ended({}, {}, { dropsScopes: true })).toBe(NOW)
    expect(ended({}, {}, { replaces: true })).toBe(NOW)
  })

  test.each<[string, KeySpec, KeySpec]>([
    ['nothing changes', { user: 'alice', groups: ['a'], scope: S }, { user: 'alice', groups: ['a'], scope: S }],
    ['the key stays disabled', { disabled: true }, { disabled: true }],
    ['an unset user is written as empty', {}, { user: '' }],
    ['the key joins a group', { groups: ['a'] }, { groups: ['b', 'a'] }],
    ['the life of the key changes', { ttl: 5 }, { ttl: 6 }],
    ['a request to drop scopes drops none', {}, { dropAddedScopes: true }],
    ['the key is limited to addresses', {}, { sourceCIDRs: ['10.0.0.0/8'] }],
  ])('goes on when %s', (_, old, next) => {
    expect(ended(old, next, { scopeChanged: EARLIER })).toBeUndefined()
  })

  test('goes on after the first change of a scope, and ends with the second one', () => {
    expect(ended({}, { scope: S })).toBeUndefined()
    expect(ended({ scope: S }, {}, { scopeChanged: EARLIER })).toBe(EARLIER)
    expect(ended({ scope: S }, { disabled: true }, { scopeChanged: EARLIER })).toBe(NOW)
  })
})

describe('the time of issue', () => {
  const at = new Date(NOW * 1000 + 400)

  test.each<[string, number | undefined, number, number[]]>([
    ['now without an end', undefined, 0, []],
    ['now after the second of the end', NOW - 1, 0, []],
    ['the next second in that of the end', NOW, 600, [600]],
    ['after an end by a clock that is ahead, without a long wait', NOW + 5, 5600, [1000]],
  ])('is %s', async (_, lastEnd, later, waits) => {
    const slept: number[] = []
    const time = await timeOfIssue(lastEnd, at, async (ms) => void slept.push(ms))
    expect([time.getTime() - at.getTime(), slept]).toEqual([later, waits])
  })
})
