/** What an edited scope gains and loses, checked against the server's own evaluation, and the rows of an edit. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import { newRow } from '../../../clients/console/src/components/scope/scoperows.ts'
import { editedScope, refusedRows, scopeEditOf } from '../../../clients/console/src/pages/key/actions/scopeedit.ts'
import { viewWords } from '../../../clients/console/src/text/scopeentries.ts'
import type { Scope } from '../../../clients/core/src/objects.ts'
import { scopeDiff } from '../../../clients/core/src/scopechange.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import * as arbitrary from '../../lib/access/arbitraries.ts'

const options = { projectNamespacePrefix: 'p-' }

describe('the difference of two scopes', () => {
  const wide = fc.constantFrom<Scope | undefined>(
    undefined,
    {},
    { projects: [{ project: 'a' }, { project: '*' }] },
    { virtualClusters: [{ project: 'a', virtualCluster: '*' }], spaces: [{ project: 'a', space: '*' }] },
    { clusters: [{ cluster: '*' }], roles: [{ role: 'agent' }, { role: 'platformCLI' }] },
    { rules: [{}] },
  )
  const scope = fc.oneof(wide, arbitrary.scope as fc.Arbitrary<Scope>)

  test('says nothing only where the server allows no more than before', () => {
    fc.assert(
      fc.property(scope, scope, arbitrary.attributes, (before, after, attributes) => {
        const allows = (one: Scope | undefined) =>
          evaluate(one ? [one as never] : [], attributes as never, options as never).allowed
        const lines = scopeDiff(before, after)
        const view = viewWords(before, after)
        if (!lines.some((line) => line.startsWith('+')) && !view?.startsWith('Without') && allows(after))
          expect(allows(before)).toBe(true)
        if (!lines.some((line) => line.startsWith('-')) && !view?.startsWith('With role') && allows(before))
          expect(allows(after)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('says what role view does to the other entries', () => {
    const [some, read]: Scope[] = [{ clusters: [{ cluster: 'c' }] }, { roles: [{ role: 'view' }] }]
    expect([viewWords(some, read), viewWords(read, some), viewWords(read, undefined), viewWords(some, {})]).toEqual([
      'With role view, the other entries only allow to read.',
      'Without role view, the other entries allow to write, too.',
      'Without role view, the other entries allow to write, too.',
      undefined,
    ])
  })
})

describe('an edit of a scope', () => {
  const scope: Scope = { projects: [{ project: 'a' }], clusters: [{ cluster: 'c' }] }
  const several: Scope = { rules: [{ resources: [{ resources: ['pods'] }, { group: 'apps' }] }] }

  test.each([undefined, {}, scope, several, { allowPlatformCli: true }])('of %j changes nothing at first', (one) =>
    expect(editedScope(scopeEditOf(one))).toEqual(one),
  )

  test('of no scope, and to none', () => {
    expect(editedScope({ ...scopeEditOf(undefined), isScoped: true })).toEqual({ projects: [{ project: '' }] })
    expect(editedScope({ ...scopeEditOf(scope), isScoped: false })).toBeUndefined()
    expect(editedScope({ ...scopeEditOf(scope), rows: [newRow(1)] })).toEqual({ projects: [{ project: '' }] })
  })

  test('shows a refusal at its row, unless it is also about something else', () => {
    const rows = [{ ...newRow(7), kind: 'cluster' as const, name: 'C' }]
    const error = (...fields: string[]) =>
      new ApiError(422, { details: { causes: fields.map((field) => ({ field, message: 'no' })) } } as never)
    expect(refusedRows(error('spec.scope.clusters[0].cluster'), rows)).toEqual([{ field: '7.name', text: 'no' }])
    expect(refusedRows(error('spec.scope.clusters[0].cluster', 'spec.ttl'), rows)).toEqual([])
    expect(refusedRows(new ApiError(403, {}), rows)).toEqual([])
  })
})
