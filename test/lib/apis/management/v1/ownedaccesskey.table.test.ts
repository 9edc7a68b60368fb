/** Tests that the index partitions of a field selector have every key that it matches. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { table } from '../../../../../lib/apis/management/v1/ownedaccesskey.table.ts'
import { OwnedAccessKey } from '../../../../../lib/apis/management/v1/ownedaccesskey.ts'
import { encodeKeyInternal } from '../../../../../lib/authentication/keyinternal.ts'
import type { Identity } from '../../../../../lib/authorization/users/user.ts'
import { selectionOf } from '../../../../../lib/endpoints/lists/selection.ts'
import { parseFieldSelector } from '../../../../../lib/meta/selectors/fields.ts'
import type { JsonObject } from '../../../../../lib/meta/types.ts'
import { admin } from '../../../../support/users.ts'

const computing = { strategy: OwnedAccessKey.strategy({ scopes: {} } as never), user: admin }
const selected = (selector: string) =>
  selectionOf(OwnedAccessKey, { labels: [], fields: parseFieldSelector(selector) }, computing)

/** Returns a key as it is stored. */
const keyOf = (spec: JsonObject, creator: Identity) => ({
  key: 'k',
  rv: 1,
  object: { apiVersion: 'v1', kind: 'OwnedAccessKey', metadata: { name: 'k', uid: 'u' }, spec },
  internal: encodeKeyInternal({ creator, carried: [], credential: { version: '1', hash: 'h' } } as never),
})

test.each<[string, string[] | undefined]>([
  ['status.owner=al', ['user:al']],
  ['status.owner=team:ops', ['team:ops']],
  ['status.owner=subject:s', ['subject:s']],
  ['spec.user=al', ['user:al']],
  ['spec.user=,spec.team=ops', ['team:ops']],
  ['spec.user=,spec.team=,spec.subject=s', ['subject:s']],
  ['spec.user=al,status.owner=al', ['user:al']],
  ['spec.user=al,status.owner=bo', []],
  // A user's key may have a team, and anybody's key may have no user.
  ['spec.team=ops', undefined],
  ['spec.subject=s', undefined],
  ['spec.user=', undefined],
  ['status.owner!=al,spec.user!=bo', undefined],
])('%s reads %j', (selector, partitions) => expect(selected(selector).within).toEqual(partitions))

test('a key that matches a selector is in each of its partitions', () => {
  const name = fc.constantFrom('', 'a', 'b')
  const requirement = fc
    .tuple(
      fc.constantFrom('spec.user', 'spec.team', 'spec.subject', 'status.owner'),
      fc.constantFrom('=', '!='),
      fc.oneof(name, fc.constantFrom('team:a', 'subject:a', 'team:b')),
    )
    .map((parts) => parts.join(''))
  const creator = fc.constantFrom<Identity>('user:a', 'user:b', 'team:a', 'subject:b')
  const key = fc.tuple(fc.record({ user: name, team: name, subject: name }), creator)
  let narrowed = 0
  fc.assert(
    fc.property(key, fc.array(requirement, { minLength: 1, maxLength: 3 }), ([spec, creator], requirements) => {
      const stored = keyOf(spec, creator)
      const { matches, within } = selected(requirements.join(','))
      if (within === undefined || !matches(stored)) return
      narrowed++
      expect(within).toEqual(table.partitions(stored))
    }),
    { numRuns: 5_000, seed: 20261126 },
  )
  expect(narrowed).toBeGreaterThan(100)
})
