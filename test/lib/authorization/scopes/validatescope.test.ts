import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { containsChain, extendChain, validateChain, withScope } from '../../../../lib/authorization/scopes/chain.ts'
import { parseChain } from '../../../../lib/authorization/scopes/parsechain.ts'
import { isPattern, patternMatches, patternsOverlap } from '../../../../lib/authorization/scopes/resourcepattern.ts'
import type { Scope } from '../../../../lib/authorization/scopes/scope.ts'
import { validateScope } from '../../../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../arbitraries.ts'

const RUNS = { numRuns: 1000, seed: 20261121 }

describe('validateScope', () => {
  const rows: [string, Scope, string[]][] = [
    ['an empty scope', {}, []],
    [
      'an unknown role',
      { roles: [{ role: 'admin' }] },
      [
        'spec.scope.roles[0].role: Unsupported value: "admin": supported values: "agent", "vcluster", "network-peer", "runner", "workspace", "platformCLI", "selfRotate"',
      ],
    ],
    [
      'a role named like a member of every object',
      { roles: [{ role: 'constructor' }] },
      ['spec.scope.roles[0].role: Unsupported value: "constructor"'],
    ],
    [
      'no role',
      { roles: [{}, { role: '' }] },
      ['spec.scope.roles[0].role: Required value', 'spec.scope.roles[1].role: Required value'],
    ],
    [
      'a virtual cluster without a project',
      { roles: [{ role: 'vcluster', virtualClusters: ['x'] }] },
      ['spec.scope.roles[0].virtualClusters[0]: Invalid value: "x": must be PROJECT/NAME where projects is empty'],
    ],
    [
      'virtual clusters in all forms',
      { roles: [{ role: 'vcluster', projects: ['a'], virtualClusters: ['x', 'a/x', 'a/*', '*'] }] },
      [],
    ],
    [
      'malformed virtual clusters',
      { roles: [{ role: 'vcluster', projects: ['a'], virtualClusters: ['', 'a/', '/x', 'a/x/y', '*/x', 'a*'] }] },
      [
        'roles[0].virtualClusters[0]: Required',
        'virtualClusters[1]: Invalid',
        'virtualClusters[2]: Invalid',
        'virtualClusters[3]: Invalid',
        'virtualClusters[4]: Invalid',
        'virtualClusters[5]: Invalid',
      ],
    ],
    [
      'names',
      { projects: [{}, { project: '*' }, { project: 'a*' }, { project: 'a/b' }] },
      [
        'spec.scope.projects[0].project: Required value',
        'spec.scope.projects[2].project: Invalid value: "a*": must be a name or *',
        `spec.scope.projects[3].project: Invalid value: "a/b": may not contain '/'`,
      ],
    ],
    [
      'wildcards of projects where only the name has one',
      { spaces: [{ project: '*', space: '*' }], virtualClusters: [{ project: '*', virtualCluster: 'x' }] },
      [
        'spec.scope.spaces[0].project: Invalid value: "*": may not contain a wildcard',
        'spec.scope.virtualClusters[0].project: Invalid value: "*": may not contain a wildcard',
      ],
    ],
    ['clusters', { clusters: [{ cluster: '*' }, { cluster: '' }] }, ['spec.scope.clusters[1].cluster: Required value']],
    [
      'resourceNames without resources',
      { rules: [{ resourceNames: ['x'] }] },
      ['spec.scope.rules[0].resourceNames: Invalid value: ["x"]: using resourceNames requires resources'],
    ],
    [
      'resourceNames of an entry without resources',
      { rules: [{ resources: [{ resourceNames: ['x'] }] }] },
      ['rules[0].resources[0].resourceNames: Invalid value'],
    ],
    [
      'resources with URLs',
      { rules: [{ resources: [{}], nonResourceURLs: ['/x'] }] },
      ['rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both'],
    ],
    [
      'namespaces with URLs',
      { rules: [{ namespaces: ['x'], nonResourceURLs: ['/x'] }] },
      ['rules[0].nonResourceURLs: Invalid value'],
    ],
    [
      'URLs',
      { rules: [{ nonResourceURLs: ['*', '/*', '/a/*', '/a', '/a*', '/*/a', 'a', '', '/a/**'] }] },
      [
        'nonResourceURLs[4]: Invalid',
        'nonResourceURLs[5]: Invalid',
        'nonResourceURLs[6]: Invalid value: "a": must begin with \'/\'',
        'nonResourceURLs[7]: Required',
        'nonResourceURLs[8]: Invalid',
      ],
    ],
    [
      'overlaps',
      {
        rules: [
          {
            resources: [
              { resources: ['pods', 'pods', 'pods/*', 'pods/log'] },
              { resources: ['*', 'pods'] },
              { resources: ['*/log', 'pods/*'] },
            ],
          },
        ],
      },
      [
        `resources[0].resources[3]: Invalid value: "pods/log": overlaps 'pods/*'`,
        `resources[1].resources[1]: Invalid value: "pods": overlaps '*'`,
        `resources[2].resources[1]: Invalid value: "pods/*": overlaps '*/log'`,
      ],
    ],
    [
      'a group',
      { rules: [{ resources: [{ group: '*' }, { group: 'a.b' }] }] },
      ['resources[0].group: Invalid value: "*"'],
    ],
    [
      'patterns',
      { rules: [{ resources: [{ resources: ['po*', 'a/b/c', ''] }] }] },
      ['resources[0]: Invalid', 'resources[1]: Invalid', 'resources[2]: Required'],
    ],
    [
      'cluster and targets',
      {
        rules: [
          { cluster: 'c', requestTargets: ['Management'] },
          { cluster: 'c', requestTargets: ['Cluster', 'Management'] },
        ],
      },
      ['rules[0].cluster: Invalid value: "c": requires the request target Cluster'],
    ],
    [
      'virtual clusters and targets',
      {
        rules: [
          { virtualClusters: [{}], requestTargets: ['Cluster'] },
          { virtualClusters: [{}], cluster: 'c' },
        ],
      },
      [
        'rules[0].virtualClusters: Invalid value: [{}]: requires the request target ProjectVirtualCluster',
        'rules[1].virtualClusters: Invalid value: [{}]: may not be used together with cluster',
      ],
    ],
    [
      'the size of the text',
      { projects: [{ project: 'x'.repeat(5000) }] },
      ['spec.scope: Too long: may not be more than 4096 bytes'],
    ],
  ]
  test.each(rows)('checks %s', (_, scope, expected) => {
    const found = validateScope(scope).map(({ field, message }) => `${field}: ${message}`)
    expect(found).toHaveLength(expected.length)
    for (const [index, text] of expected.entries()) expect(found[index]).toContain(text)
  })
})

test('patternsOverlap reports whether any resource matches both patterns', () => {
  const word = fc.constantFrom('a', 'b', '*')
  const pattern = fc.oneof(
    word,
    fc.tuple(word, word).map((pair) => pair.join('/')),
  )
  const all = ['a', 'b', 'c'].flatMap((resource) =>
    ['', 'a', 'b', 'c'].map((subresource) => [resource, subresource] as const),
  )
  fc.assert(
    fc.property(pattern, pattern, (one, other) => {
      expect(isPattern(one)).toBe(true)
      const both = all.some(([r, s]) => patternMatches(one, r, s) && patternMatches(other, r, s))
      expect(patternsOverlap(one, other)).toBe(both)
    }),
    RUNS,
  )
})

describe('chains', () => {
  test('contain a scope once, regardless of the order of its members', () => {
    const scope: Scope = { projects: [{ project: 'a' }], clusters: [{ cluster: 'c' }] }
    const same: Scope = { clusters: [{ cluster: 'c' }], projects: [{ project: 'a' }] }
    expect(withScope([scope], same)).toEqual([scope])
    expect(withScope([scope], {})).toEqual([scope, {}])
    expect(withScope([scope], undefined)).toEqual([scope])
    expect(withScope([], null)).toEqual([])
  })

  test('keep every scope when extended', () => {
    fc.assert(
      fc.property(fc.array(anyScope, { maxLength: 3 }), fc.array(anyScope, { maxLength: 3 }), (chain, more) => {
        const all = extendChain(chain, more)
        expect(containsChain(all, chain) && containsChain(all, more)).toBe(true)
        expect(containsChain([...chain, ...more], all)).toBe(true)
      }),
      RUNS,
    )
  })

  test('distinguish different scopes', () => {
    expect(containsChain([{ projects: [] }], [{}])).toBe(false)
    expect(containsChain([{ projects: [{ project: 'a' }] }], [{ spaces: [{ project: 'a' }] }])).toBe(false)
  })

  test('have at most 8 scopes and 4096 bytes', () => {
    const scopes = (count: number) =>
      Array.from({ length: count }, (_, index): Scope => ({ clusters: [{ cluster: `${index}` }] }))
    expect(validateChain(scopes(8))).toEqual([])
    expect(validateChain(scopes(9))).toMatchObject([{ type: 'FieldValueTooMany', field: 'spec.scope' }])
    const chainOfBytes = (bytes: number): Scope[] => [
      { clusters: [{ cluster: 'é'.repeat((bytes - 31) / 2) + 'x'.repeat((bytes - 31) % 2) }] },
    ]
    expect(Buffer.byteLength(JSON.stringify(chainOfBytes(4096)))).toBe(4096)
    expect(validateChain(chainOfBytes(4096))).toEqual([])
    expect(validateChain(chainOfBytes(4098), 'x')).toMatchObject([{ type: 'FieldValueTooLong', field: 'x' }])
  })

  test('are parsed only if they fully match the schema', () => {
    fc.assert(
      fc.property(fc.array(anyScope, { maxLength: 3 }), (chain) => {
        expect(parseChain(JSON.parse(JSON.stringify(chain)))).toEqual(chain)
      }),
      RUNS,
    )
    const bad = [
      undefined,
      null,
      {},
      'x',
      [null],
      [[]],
      ['x'],
      [{ other: [] }],
      [{ rules: [{ until: 'x' }] }],
      [{ projects: {} }],
      [{ projects: [{ project: 1 }] }],
      [{ allowPlatformCli: 'yes' }],
      [{ constructor: [] }],
      [JSON.parse('{"__proto__": {}}')],
      [{ rules: [{ requestTargets: ['Elsewhere'] }] }],
      Array.from({ length: 9 }, () => ({})),
    ]
    for (const value of bad) expect(() => parseChain(value), JSON.stringify(value)).toThrow()
  })
})
