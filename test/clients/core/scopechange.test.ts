/** The patches that change a scope, and what they change in words. */
import { describe, expect, test } from 'vitest'
import type { AccessKey } from '../../../clients/core/src/objects.ts'
import { dropPatch, pastedPatch, scopeDiff, scopePatch } from '../../../clients/core/src/scopechange.ts'
import { entryOf } from '../../../clients/core/src/usage.ts'

const [real, smaller] = [{ projects: [{ project: 'a' }, { project: 'b' }] }, { projects: [{ project: 'a' }] }]
const keyOf = (spec: AccessKey['spec']): AccessKey => ({
  metadata: { name: 'ci', uid: 'u', resourceVersion: '7', creationTimestamp: '' },
  spec,
})
const unchanged = { op: 'replace', path: '/metadata/resourceVersion', value: '7' }

test('a patch sets, removes or drops a scope of the version that was read', () => {
  const key = keyOf({ scope: real })
  expect(scopePatch(key, smaller)).toEqual([unchanged, { op: 'add', path: '/spec/scope', value: smaller }])
  expect(scopePatch(key, undefined)).toEqual([unchanged, { op: 'remove', path: '/spec/scope' }])
  expect(dropPatch(key)).toEqual([unchanged, { op: 'add', path: '/spec/dropAddedScopes', value: true }])
})

test('a patch to paste is refused when the scope has changed, or has come into being', () => {
  const add = { op: 'add', path: '/spec/scope', value: smaller }
  expect(pastedPatch(keyOf({ scope: real }), smaller)).toEqual([{ op: 'test', path: '/spec/scope', value: real }, add])
  expect(pastedPatch(keyOf({}), smaller)).toEqual([unchanged, add])
})

test('a diff has a line for each entry, also to and from no scope', () => {
  const everything = 'everything its owner and groups may'
  expect(scopeDiff(real, smaller)).toEqual(['- projects: {project: b}'])
  expect(scopeDiff(undefined, smaller)).toEqual([`- ${everything}`, '+ projects: {project: a}'])
  expect(scopeDiff(smaller, undefined)).toEqual(['- projects: {project: a}', `+ ${everything}`])
})

describe('a line of a scope', () => {
  const lineOf = (line: string) => ({ line, state: 'Used' })
  const key = keyOf({ scope: { ...real, allowPlatformCli: true } })

  test('has its entry', () => {
    const lines = ['spec.scope.projects[1]', 'spec.scope.allowPlatformCli', 'spec.scope.rules[0]'].map(lineOf)
    expect(lines.map((line) => entryOf(key, line, lines))).toEqual([
      { projects: [{ project: 'b' }] },
      { allowPlatformCli: true },
      undefined,
    ])
  })

  test('has none if it is inherited', () => {
    const lines = ['chain[0].spec.scope.projects[0]', 'chain[1].spec.scope.projects[0]'].map(lineOf)
    expect(lines.map((line) => entryOf(key, line, lines))).toEqual([undefined, { projects: [{ project: 'a' }] }])
  })
})
