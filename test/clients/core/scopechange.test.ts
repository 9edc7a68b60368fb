/** The patches that change a scope, and what they change in words. */
import { describe, expect, test } from 'vitest'
import type { AccessKey } from '../../../clients/core/src/objects.ts'
import {
  pastedPatch,
  realPatch,
  refusedByTrial,
  scopeDiff,
  trialPatch,
  undoPatch,
} from '../../../clients/core/src/scopechange.ts'
import { entryOf } from '../../../clients/core/src/usage.ts'

const [real, smaller] = [{ projects: [{ project: 'a' }, { project: 'b' }] }, { projects: [{ project: 'a' }] }]
const keyOf = (spec: AccessKey['spec'], status: AccessKey['status'] = {}): AccessKey => ({
  metadata: { name: 'ci', uid: 'u', resourceVersion: '7', creationTimestamp: '' },
  spec,
  status,
})
const unchanged = { op: 'replace', path: '/metadata/resourceVersion', value: '7' }
const trial = { scope: smaller, until: '2026-12-03T10:00:00Z' }
const tried = keyOf({ scope: real, scopeTrial: trial })

test('every patch of a command is refused when the key has changed', () => {
  const former = keyOf({ scope: smaller }, { formerScope: { scope: real } })
  const patches = [
    trialPatch(tried, smaller, trial.until),
    realPatch(tried, smaller, { isForced: false }),
    undoPatch(former)?.patch,
  ]
  for (const patch of [...patches, undoPatch(tried)?.patch]) expect(patch?.[0]).toEqual(unchanged)
})

test('a scope is made real as a whole, with its trial so that the former one is kept, and by force only if that is asked for', () => {
  const scope = { op: 'add', path: '/spec/scope', value: smaller }
  const patchOf = (isForced: boolean) => realPatch(tried, smaller, { isForced })
  expect(patchOf(false)).toEqual([unchanged, scope, { op: 'add', path: '/spec/scopeTrial', value: { scope: smaller } }])
  const force = { scope: smaller, force: true }
  expect(patchOf(true)).toEqual([unchanged, scope, { op: 'add', path: '/spec/scopeTrial', value: force }])
})

test('a patch to paste is refused when the scope has changed, or has come into being', () => {
  const add = { op: 'add', path: '/spec/scope', value: smaller }
  expect(pastedPatch(keyOf({ scope: real }), smaller)).toEqual([{ op: 'test', path: '/spec/scope', value: real }, add])
  expect(pastedPatch(keyOf({}), smaller)).toEqual([unchanged, add])
})

test('the last step is undone: a trial before a former scope, which may be none', () => {
  const both = keyOf({ scope: smaller, scopeTrial: trial }, { formerScope: { scope: real } })
  expect(undoPatch(both)).toMatchObject({ undoes: 'trial', patch: [{}, { op: 'remove', path: '/spec/scopeTrial' }] })
  const made = (scope?: object) => undoPatch(keyOf({ scope: smaller }, { formerScope: { ...(scope && { scope }) } }))
  expect(made(real)).toMatchObject({ undoes: 'scope', patch: [{}, { op: 'add', path: '/spec/scope', value: real }] })
  expect(made()).toMatchObject({ undoes: 'scope', patch: [{}, { op: 'remove', path: '/spec/scope' }] })
  const drop = { op: 'add', path: '/spec/dropAddedScopes', value: true }
  expect(undoPatch(keyOf({ scope: real }, { addedScopes: [smaller] }))).toEqual({
    undoes: 'added',
    patch: [unchanged, drop],
  })
  expect(undoPatch(keyOf({ scope: real }))).toBeUndefined()
})

test('a refusal names the requests of a trial, and no other conflict does', () => {
  const cause = { reason: 'ScopeTrialRefused', message: 'list of ownedaccesskeys (2026-11-26)' }
  const causesOf = (...causes: object[]) => refusedByTrial({ details: { causes } })
  expect(causesOf({ reason: 'Other', message: 'x' }, cause)).toEqual([cause.message])
  expect([causesOf(), causesOf({ reason: 'Other' }), refusedByTrial({})]).toEqual([undefined, undefined, undefined])
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
