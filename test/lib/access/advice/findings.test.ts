import { describe, expect, test } from 'vitest'
import { findingsOf, type KeyFacts } from '../../../../lib/access/advice/findings.ts'

const at = (day: number) => new Date(Date.UTC(2026, 10, day))
const good: KeyFacts = {
  now: at(30),
  created: at(1),
  expires: at(60),
  lastActivity: at(29),
  networks: 4,
  days: 29,
  scope: {},
}
const typesOf = (more: Partial<KeyFacts>) => findingsOf({ ...good, ...more }).map(({ type }) => type)
const { expires: _, ...lasting } = good
const { lastActivity: __, ...untouched } = good

describe('findingsOf', () => {
  test('returns nothing for a key that needs nothing', () => expect(findingsOf(good)).toEqual([]))

  test('finds keys that never expire', () =>
    expect(findingsOf(lasting)).toEqual([
      { type: 'NeverExpires', message: 'The key never expires: set spec.ttl, and rotate the key before it ends.' },
    ]))

  test.each<[Partial<KeyFacts>, string[]]>([
    [{ networks: 5 }, ['ManyAddresses']],
    [{ networks: 5, sourceCIDRs: [] }, ['ManyAddresses']],
    [{ networks: 50, sourceCIDRs: ['10.0.0.0/8'] }, []],
    [{ scope: undefined }, ['NoScope']],
    [{ scope: { rules: [{}] } }, ['NoScope']],
    [{ scope: undefined, isInherited: true }, []],
    [{ lastActivity: at(1) }, []],
    [{ lastActivity: at(0) }, ['Unused']],
    [{ lastActivity: at(0), networks: 5, scope: undefined }, ['Unused', 'NoScope', 'ManyAddresses']],
    [{ lastActivity: at(0), networks: 5, expires: at(30) }, []],
  ])('of a key with %j are %j', (more, types) => expect(typesOf(more)).toEqual(types))

  test('finds keys that were never used, a month after they were created', () => {
    expect(findingsOf(untouched)).toEqual([])
    expect(findingsOf({ ...untouched, created: at(0) })).toEqual([
      { type: 'Unused', message: 'The key was created 30 days ago and has never been used: delete it.' },
    ])
  })
})
