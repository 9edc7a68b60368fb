/** What an edited scope gains and loses, checked against the server's own evaluation, and the patch that saves it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import { rowsOfScope } from '../../../clients/console/src/components/scope/rowsofscope.ts'
import { newRow, scopeOf } from '../../../clients/console/src/components/scope/scoperows.ts'
import { differenceOf, mayWords } from '../../../clients/console/src/pages/key/actions/difference.ts'
import {
  editedScope,
  isOther,
  refusedRows,
  scopeEditOf,
  scopePatch,
} from '../../../clients/console/src/pages/key/actions/scopeedit.ts'
import type { Scope } from '../../../clients/core/src/objects.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import { mergePatch } from '../../../lib/engine/meta/patch/mergepatch.ts'
import * as arbitrary from '../../lib/access/arbitraries.ts'
import { keyOf } from './keys.ts'

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
        const { gained, lost } = differenceOf(before, after)
        if (gained.length === 0 && allows(after)) expect(allows(before)).toBe(true)
        if (lost.length === 0 && allows(before)) expect(allows(after)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test.each<[Scope | undefined, Scope | undefined, string[], string[]]>([
    [{ projects: [{ project: 'a' }] }, { projects: [{ project: 'b' }] }, ['project b'], ['project a']],
    [{ projects: [{ project: '*' }] }, { projects: [{ project: 'b' }] }, [], ['all projects']],
    [
      { roles: [{ role: 'view' }], clusters: [{ cluster: 'a' }] },
      { clusters: [{ cluster: 'a' }] },
      ['cluster a'],
      ['role view'],
    ],
    [{ projects: [{ project: 'a' }] }, { spaces: [{ project: 'a', space: 's' }] }, [], ['project a']],
    [
      { virtualClusters: [{ project: 'a', virtualCluster: 'x' }] },
      { virtualClusters: [{ project: 'a', virtualCluster: '*' }] },
      ['all virtual clusters of a'],
      [],
    ],
    [
      { spaces: [{ project: 'a', space: '*' }], virtualClusters: [{ project: 'a', virtualCluster: '*' }] },
      { spaces: [{ project: 'b', space: 's' }], virtualClusters: [{ project: 'b', virtualCluster: 'x' }] },
      ['space b/s', 'virtual cluster b/x'],
      ['all spaces of a', 'all virtual clusters of a'],
    ],
    [{ allowPlatformCli: true }, { roles: [{ role: 'platformCLI' }] }, [], []],
    [
      { projects: [{ project: 'a' }] },
      { roles: [{ role: 'view' }], projects: [{ project: 'a' }] },
      ['role view'],
      ['project a'],
    ],
    [undefined, { clusters: [{ cluster: 'c' }] }, [], ['everything else that its owner and groups may']],
    [{ clusters: [{ cluster: 'c' }] }, undefined, ['everything else that its owner and groups may'], []],
    [undefined, undefined, [], []],
  ])('from %j to %j', (before, after, gained, lost) => expect(differenceOf(before, after)).toEqual({ gained, lost }))

  test('is between sentences in the words of the list', () =>
    expect([undefined, {}, { projects: [{ project: 'a' }] }].map((one) => mayWords(one))).toEqual([
      'do everything its owner and groups may',
      'do nothing, except ask who it is and what it may do',
      'use project a',
    ]))
})

describe('an edit of a scope', () => {
  const scope: Scope = { projects: [{ project: 'a' }], clusters: [{ cluster: 'c' }] }
  const keyWith = (one: Scope | undefined) => keyOf({ spec: { scope: one } })

  test.each([undefined, {}, scope])('of %j changes nothing at first', (one) =>
    expect(scopePatch(keyWith(one), scopeEditOf(keyWith(one)))).toBeUndefined(),
  )

  test.each<[Scope | undefined, Scope | undefined]>([
    [scope, { projects: [{ project: 'b' }] }],
    [scope, {}],
    [scope, undefined],
    [undefined, {}],
    [undefined, scope],
    [{ allowPlatformCli: true }, scope],
  ])('of %j patches it to %j, and names the version that was seen', (before, after) => {
    const key = keyWith(before)
    const edit = { ...scopeEditOf(key), isScoped: after !== undefined, rows: (after && rowsOfScope(after)) ?? [] }
    const patch = scopePatch(key, edit)
    expect(patch?.metadata).toEqual({ uid: key.metadata.uid, resourceVersion: '1' })
    const patched = mergePatch(key as never, patch as never) as unknown as typeof key
    expect(patched.spec.scope).toEqual(after)
    expect(editedScope(edit)).toEqual(after)
  })

  test('of a scope that rows cannot say begins with none of it', () => {
    const key = keyWith({ allowPlatformCli: true })
    expect([isOther(key), scopeOf(scopeEditOf(key).rows)]).toEqual([true, { projects: [{ project: '' }] }])
    expect([isOther(keyWith(scope)), isOther(keyWith(undefined))]).toEqual([false, false])
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
