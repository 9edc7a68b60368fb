import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isVisibleUser, visibleGroups } from '../../../../lib/clusters/token/visibleuser.ts'
import cases from './vectors/visibleuser.cases.json' with { type: 'json' }

test('visibleGroups omits Kubernetes groups and adds platform:admins for administrators', () =>
  expect(visibleGroups(['system:masters', 'system:authenticated', 'ops', 'team:b', 'ops', ''])).toEqual([
    'ops',
    'platform:admins',
    'team:b',
  ]))

// threat: virtual-12
test('visibleGroups never marks anyone else as an administrator', () =>
  expect(visibleGroups(['platform:admins', 'system:authenticated'])).toEqual([]))

// threat: virtual-12
test('no system: name is ever passed on', () => {
  const name = fc.oneof(
    fc.string(),
    fc.string().map((rest) => `system:${rest}`),
    fc.constant('system:masters'),
  )
  fc.assert(
    fc.property(fc.array(name), (names) => {
      for (const group of visibleGroups(names)) expect(group.startsWith('system:')).toBe(false)
      for (const user of names.filter(isVisibleUser)) expect(user.startsWith('system:')).toBe(false)
    }),
  )
})

test.each(cases.visible as [string, boolean][])('clusters may see user %j: %j', (user, expected) =>
  expect(isVisibleUser(user)).toBe(expected),
)
