/** Which versions a rollback moves the functions to. */
import { describe, expect, test } from 'vitest'
import { type Published, planRollback, refuseDuring, releasesOf } from '../../infra/rollback.ts'

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
  expect(moved([published('authorizer', ['1 a', '2 b', '2 c'], { live: '2' })])).toEqual(['authorizer 2 1'])
})

test('keeps a function that the earlier release does not have', () => {
  const functions = [published('authorizer', ['a', 'b']), published('new', ['b'])]
  expect([moved(functions), planRollback(functions).kept]).toEqual([['authorizer 2 1'], ['keyplane-prod-new']])
})

test('goes to the release that is named, also forward', () => {
  const functions = [published('authorizer', ['1 a', '2 b', '2 c'], { live: '1' })]
  expect(moved(functions, '2 c')).toEqual(['authorizer 1 3'])
  expect(releasesOf(functions)).toEqual(['2 c', '2 b', '1 a'])
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
    [
      'a release before the last but one',
      [published('authorizer', ['1 a', '2 b', '2 c', '3 d'])],
      '1 a',
      '1 a reads only what 2 has written, and 3 has run: deploy each release in turn',
    ],
    [
      'a second rollback, which would go back over two releases',
      [published('authorizer', ['1 a', '2 b', '3 c'], { live: '2' })],
      undefined,
      'and 3 has run',
    ],
  ])('%s', (_, functions, to, message) => expect(() => planRollback(functions, to)).toThrow(message))

  test('while CloudFormation deploys, and not while it cleans up', () => {
    for (const status of ['CREATE', 'UPDATE', 'UPDATE_ROLLBACK', 'DELETE'])
      expect(() => refuseDuring(`${status}_IN_PROGRESS`)).toThrow(`the stack is ${status}_IN_PROGRESS`)
    for (const status of ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_FAILED', ''])
      expect(() => refuseDuring(status)).not.toThrow()
  })
})
