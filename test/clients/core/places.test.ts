/** Places of a scope that a person does not see. */
import { expect, test } from 'vitest'
import type { Scope } from '../../../clients/core/src/objects.ts'
import { byProject, placesIn, unknownPlaces } from '../../../clients/core/src/words/places.ts'

const known = byProject(
  [
    { namespace: 'p-shop', name: 'eu' },
    { namespace: 'p-shop', name: 'us' },
    { namespace: 'p-blog', name: 'dev' },
    { namespace: 'default', name: 'else' },
  ],
  'p-',
)

test.each<[Scope, string[]]>([
  [{}, []],
  [{ projects: [{ project: 'shop' }, { project: '*' }, {}], virtualClusters: [{ project: 'shop' }] }, []],
  [{ projects: [{ project: 'shpo' }] }, ['You see no virtual cluster in a project "shpo". Did you mean "shop"?']],
  [{ projects: [{ project: 'billing' }] }, ['You see no virtual cluster in a project "billing".']],
  [
    { spaces: [{ project: 'blgo', space: 'x' }] },
    ['You see no virtual cluster in a project "blgo". Did you mean "blog"?'],
  ],
  [
    {
      virtualClusters: [
        { project: 'shop', virtualCluster: 'ue' },
        { project: 'shop', virtualCluster: '*' },
      ],
    },
    ['You see no virtual cluster "shop/ue". Did you mean "shop/eu"?'],
  ],
  [
    { roles: [{ role: 'runner', projects: ['shpo'], virtualClusters: ['eu', 'shpo/eu', 'blog/dev'] }] },
    ['You see no virtual cluster in a project "shpo". Did you mean "shop"?'],
  ],
])('of %j are %j', (scope, sentences) => expect(unknownPlaces(placesIn(scope), known)).toEqual(sentences))

test('are not named to somebody who sees none', () =>
  expect(unknownPlaces(placesIn({ projects: [{ project: 'shop' }] }), new Map())).toEqual([]))
