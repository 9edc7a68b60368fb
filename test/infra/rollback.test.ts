/** Which versions a rollback moves the functions to. */
import { describe, expect, test } from 'vitest'
import { type Published, planRollback, releasesOf } from '../../infra/rollback.ts'

/** Returns a function whose versions are of these releases, from 1 on. The last one is live. */
const published = (name: string, releases: readonly string[], more: Partial<Published> = {}): Published => ({
  name: `keyplane-prod-${name}`,
  live: String(releases.length),
  revision: `revision-of-${name}`,
  shifts: false,
  versions: releases.map((release, index) => ({ number: String(index + 1), release })),
  ...more,
})
const moved = (functions: readonly Published[], to?: string) =>
  planRollback(functions, to).moves.map(({ name, from, to }) => `${name.replace('keyplane-prod-', '')} ${from} ${to}`)

test('moves every function to the release before, and the authorizer last', () => {
  const functions = [published('authorizer', ['a', 'b']), published('create', ['a', 'b'])]
  expect(planRollback(functions)).toEqual({
    from: 'b',
    to: 'a',
    moves: [
      { name: 'keyplane-prod-create', from: '2', to: '1', revision: 'revision-of-create' },
      { name: 'keyplane-prod-authorizer', from: '2', to: '1', revision: 'revision-of-authorizer' },
    ],
    kept: [],
  })
})

test('has the same goal again after an interruption', () => {
  const create = published('create', ['a', 'b', 'c'], { live: '2' })
  expect(moved([published('authorizer', ['a', 'b', 'c']), create])).toEqual(['authorizer 3 2'])
})

test('goes to the newest version of a release that was deployed twice, and not to newer releases', () => {
  expect(moved([published('authorizer', ['a', 'b', 'a', 'c'])])).toEqual(['authorizer 4 3'])
  expect(moved([published('authorizer', ['a', 'b', 'c'], { live: '2' })])).toEqual(['authorizer 2 1'])
})

test('keeps a function that the earlier release does not have', () => {
  const functions = [published('authorizer', ['a', 'b']), published('new', ['b'])]
  expect([moved(functions), planRollback(functions).kept]).toEqual([['authorizer 2 1'], ['keyplane-prod-new']])
})

test('goes to the release that is named, also forward', () => {
  const functions = [published('authorizer', ['a', 'b', 'c'], { live: '1' })]
  expect(moved(functions, 'c')).toEqual(['authorizer 1 3'])
  expect(releasesOf(functions)).toEqual(['c', 'b', 'a'])
})

describe('refuses', () => {
  test.each([
    ['no deployment', [], undefined, 'there is no deployment with an alias live'],
    ['the first release', [published('authorizer', ['a', 'a'])], undefined, 'there is no release before a'],
    ['an unknown release', [published('authorizer', ['a', 'b'])], 'x', 'there is no release x'],
    [
      'a rollout',
      [published('authorizer', ['a', 'b']), published('create', ['a', 'b'], { shifts: true })],
      undefined,
      'a rollout is in progress: keyplane-prod-create has two versions',
    ],
  ])('%s', (_, functions, to, message) => expect(() => planRollback(functions, to)).toThrow(message))
})
