/** Tests which former scope a change keeps, and for how long. */
import { expect, test } from 'vitest'
import { FORMER_SECONDS } from '../../../lib/keys/credential/keyinternal.ts'
import { formerAfter, presentScopeChanges } from '../../../lib/keys/scope.changes.ts'

const scopeOf = (project: string) => ({ projects: [{ project }] })
const [wide, small, other] = [scopeOf('a'), scopeOf('b'), scopeOf('c')] as const
const now = new Date('2026-11-26T10:00:00Z')
const at = now.getTime() / 1000
const recent = { scope: wide, at: at - FORMER_SECONDS + 1 }
const over = { scope: wide, at: at - FORMER_SECONDS }

test('a change of the scope keeps the replaced one, even if there was none, in place of an earlier one', () => {
  expect(formerAfter(undefined, { before: wide, next: small }, now)).toEqual({ scope: wide, at })
  expect(formerAfter(recent, { before: small, next: other }, now)).toEqual({ scope: small, at })
  expect(formerAfter(recent, { before: small, next: wide }, now)).toEqual({ scope: small, at })
  expect(formerAfter(undefined, { before: undefined, next: {} }, now)).toEqual({ at })
  expect(formerAfter(undefined, { before: {}, next: undefined }, now)).toEqual({ scope: {}, at })
})

test('a change of anything else keeps the former scope for 30 days', () => {
  const unchanged = { before: small, next: { ...small } }
  expect(formerAfter(recent, unchanged, now)).toBe(recent)
  expect(formerAfter(over, unchanged, now)).toBeUndefined()
  expect(formerAfter(undefined, unchanged, now)).toBeUndefined()
})

test('the status shows the former scope for 30 days', () => {
  const shown = (former: typeof recent | { at: number }) =>
    presentScopeChanges({ scope: small }, { former, carried: [] }, now).formerScope
  expect(shown({ scope: wide, at })).toEqual({
    scope: wide,
    replaced: '2026-11-26T10:00:00Z',
    until: '2026-12-26T10:00:00Z',
  })
  expect(shown({ at })).toEqual({ replaced: '2026-11-26T10:00:00Z', until: '2026-12-26T10:00:00Z' })
  expect([shown(recent), shown(over)]).toEqual([expect.objectContaining({ scope: wide }), undefined])
})
