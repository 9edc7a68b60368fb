/** Tests which scopes give an exchange the token of a place, and the entries that are named otherwise. */
import { expect, test } from 'vitest'
import { managementRequest } from '../../../lib/access/attributes/attributes.ts'
import type { NamedPlace } from '../../../lib/access/scopes/place.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import { lacksForToken, lackWords } from '../../../lib/access/targettokens.ts'
import { KINDS } from '../../../lib/kinds.ts'

const options = { projectNamespacePrefix: 'p-' }
const eu = { type: 'cluster', name: 'eu' } as const
const dev = { type: 'virtualCluster', namespace: 'p-shop', name: 'dev' } as const
const get = { verbs: ['get'] }
const reading: Scope = { rules: [{ ...get, cluster: 'eu' }] }
const wholeEu = 'spec.scope: {"clusters":[{"cluster":"eu"}]}'
const wholeDev = 'spec.scope: {"virtualClusters":[{"project":"shop","virtualCluster":"dev"}]}'

function lacking(chain: Scope[], place: NamedPlace = eu, { byRule = true, isWhole = false } = {}) {
  const kind = place.type === 'cluster' ? KINDS.Cluster : KINDS.VirtualClusterInstance
  const namespace = place.type === 'cluster' ? '' : place.namespace
  const request =
    isWhole || place.type === 'virtualCluster'
      ? managementRequest(kind, { verb: 'create', subresource: 'kubeconfig', namespace, name: place.name })
      : managementRequest(KINDS.DirectClusterEndpointToken, { verb: 'create' })
  const lacks = lacksForToken(chain, { place, request, byRule }, options)
  return [lacks.length, ...lackWords(lacks, chain)]
}

test.each<[string, Scope[], NamedPlace?]>([
  ['no scope', []],
  ['the cluster', [{ clusters: [{ cluster: 'eu' }] }]],
  ['every cluster', [{ clusters: [{ cluster: '*' }] }]],
  ['a rule about the cluster', [reading]],
  ['a rule with its target', [{ rules: [{ ...get, cluster: 'eu', requestTargets: ['Cluster'] }] }]],
  ['a rule about paths there', [{ rules: [{ cluster: 'eu', nonResourceURLs: ['/metrics'] }] }]],
  ['the cluster above a rule', [{ clusters: [{ cluster: 'eu' }] }, reading]],
  ['a rule above a rule', [reading, reading]],
  [
    'a rule about the virtual cluster',
    [{ rules: [{ ...get, virtualClusters: [{ name: 'dev', namespace: 'p-shop' }] }] }],
    dev,
  ],
  [
    'a rule about it and another one',
    [
      {
        rules: [
          {
            ...get,
            virtualClusters: [
              { name: 'web', namespace: 'p-shop' },
              { name: 'dev', namespace: 'p-shop' },
            ],
          },
        ],
      },
    ],
    dev,
  ],
])('%s gives the token, in both forms', (_, chain, place) => {
  expect([lacking(chain, place), lacking(chain, place, { isWhole: true })]).toEqual([[0], [0]])
})

const agent: Scope = { roles: [{ role: 'agent' }], ...reading }
const others: [string, Scope[], string, NamedPlace?][] = [
  ['an empty scope', [{}], wholeEu],
  ['another cluster', [{ rules: [{ ...get, cluster: 'us' }] }], wholeEu],
  ['a rule that names no cluster', [{ rules: [get] }], wholeEu],
  ['a rule about all of a target', [{ rules: [{ ...get, requestTargets: ['Cluster'] }] }], wholeEu],
  ['a space', [{ spaces: [{ project: 'shop', space: 'dev' }] }], wholeEu],
  ['a rule below nothing', [{}, reading], `chain[0].${wholeEu}`],
  ['a rule above nothing', [reading, {}], `chain[1].${wholeEu}`],
  ['a rule that names no virtual cluster', [{ rules: [get] }], wholeDev, dev],
  [
    'a rule about another virtual cluster',
    [{ rules: [{ virtualClusters: [{ name: 'web', namespace: 'p-shop' }] }] }],
    wholeDev,
    dev,
  ],
  [
    'a rule about all of a project',
    [{ rules: [{ ...get, virtualClusters: [{ namespace: 'p-shop' }] }] }],
    wholeDev,
    dev,
  ],
  ['a rule about that name anywhere', [{ rules: [{ ...get, virtualClusters: [{ name: 'dev' }] }] }], wholeDev, dev],
]
// threat: exchange-43
test.each(others)(
  '%s gives none, and the entry that is named suffices, whatever the form',
  (_, chain, missing, place) => {
    expect([lacking(chain, place), lacking(chain, place, { isWhole: true })]).toEqual([
      [1, missing],
      [1, missing],
    ])
  },
)

// threat: exchange-43
test('beside a role for reviews, a rule gives no token, nor does the whole cluster', () => {
  const [count, missing] = lacking([agent])
  expect([count, missing]).toEqual([1, expect.stringContaining('"directclusterendpointtokens"')])
})

// threat: exchange-43
test('where a place may not ask, a rule gives no token, and the entry that is named opens nothing else', () => {
  expect(lacking([reading], eu, { byRule: false })).toEqual([1, expect.stringContaining('directclusterendpointtokens')])
  expect(lacking([reading], eu, { byRule: false, isWhole: true })).toEqual([
    1,
    expect.stringContaining('clusters/kubeconfig'),
  ])
})

test('a virtual cluster outside of projects has no entry of its own', () => {
  const outside = { type: 'virtualCluster', namespace: 'other', name: 'dev' } as const
  expect(lacking([{}], outside)).toEqual([1, expect.stringContaining('virtualclusterinstances/kubeconfig')])
})

test('names each scope that does not give it', () => {
  expect(lacking([{}, reading, {}])).toEqual([2, `chain[0].${wholeEu}`, `chain[2].${wholeEu}`])
})
