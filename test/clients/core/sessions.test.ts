/** Tests which keys count as those of one command. */
import { expect, test } from 'vitest'
import { isSession, SESSION_LABEL, withoutMark } from '../../../clients/core/src/sessions.ts'

const DAY = 86_400

test.each<[string, Record<string, string>, { ttl?: number; ttlAfterLastActivity?: boolean }, boolean]>([
  ['of ten minutes', { [SESSION_LABEL]: 'run' }, { ttl: 600 }, true],
  ['of a day', { [SESSION_LABEL]: 'run' }, { ttl: DAY }, true],
  ['of more than a day', { [SESSION_LABEL]: 'run' }, { ttl: DAY + 1 }, false],
  ['that never ends', { [SESSION_LABEL]: 'run' }, {}, false],
  ['that never ends, written as 0', { [SESSION_LABEL]: 'run' }, { ttl: 0 }, false],
  ['that lives on with each use', { [SESSION_LABEL]: 'run' }, { ttl: 600, ttlAfterLastActivity: true }, false],
  ['without the mark', { team: 'shop' }, { ttl: 600 }, false],
])('a key %s', (_, labels, spec, expected) => {
  expect(isSession({ metadata: { name: 'a', uid: 'u', labels }, spec } as never)).toBe(expected)
})

test('a copy of a key has no mark', () => {
  expect(withoutMark({ [SESSION_LABEL]: 'run', team: 'shop' })).toEqual({ team: 'shop' })
})
