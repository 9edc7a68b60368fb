import { describe, expect, test } from 'vitest'
import { adviseScope } from '../../../../lib/access/advice/advice.ts'
import { usedLines } from '../../../../lib/access/advice/lines.ts'
import type { Usage } from '../../../../lib/access/advice/usage.ts'
import type { UsedEntry } from '../../../../lib/access/advice/usedentry.ts'
import { byteLength, MAX_CHAIN_BYTES } from '../../../../lib/access/scopes/chain.ts'
import type { Rule } from '../../../../lib/access/scopes/rules.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { OPTIONS } from './arbitraryusage.ts'
import { entryOf, placeOf, usageOf } from './usagetext.ts'

const advise = (scope: Scope | undefined, usage: Usage) => adviseScope(scope, usage, OPTIONS)
const reasonsOf = (scope: Scope | undefined, usage: Usage) => advise(scope, usage).unknowns.map(({ reason }) => reason)
const accepted = (...places: string[]) => ({
  accepted: places.map((text) => ({ place: placeOf(text), day: '2026-11-02' })),
})
const projects = (...names: string[]) => ({ projects: names.map((project) => ({ project })) })
const clusters = (...names: string[]) => ({ clusters: names.map((cluster) => ({ cluster })) })
const virtual = (project: string, ...names: string[]) => ({
  virtualClusters: names.map((virtualCluster) => ({ project, virtualCluster })),
})
const MANAGED = 'management.platform'
const managed = (verbs: string[], resource: string, namespace: string, more: object = {}): Rule => ({
  verbs,
  resources: [{ group: MANAGED, resources: [resource], ...more }],
  namespaces: [namespace],
  requestTargets: ['Management'],
})
const TOKEN = 'create directclusterendpointtokens'

describe('a smaller scope', () => {
  test.each<[string, Scope, Usage, Scope | undefined]>([
    ['is without unused lines', { ...projects('a', 'b'), ...clusters('c') }, usageOf(['list vci p-a/']), projects('a')],
    [
      'is without an unused role for reviews once the virtual clusters beside it have gone',
      { rules: [{}], roles: [{ role: 'agent' }], spaces: [{}], virtualClusters: [{}] },
      usageOf(['deletecollection vci'], accepted('cluster a')),
      { rules: [{}], spaces: [{}] },
    ],
    [
      'keeps an unused role for reviews beside a cluster, as it keeps the key from tokens for it',
      { roles: [{ role: 'agent' }], ...clusters('c'), ...projects('a') },
      usageOf([], accepted('cluster c')),
      { roles: [{ role: 'agent' }], ...clusters('c') },
    ],
    [
      'keeps it beside a virtual cluster',
      { roles: [{ role: 'agent' }], ...virtual('a', 'x'), ...projects('b') },
      usageOf([], accepted('vc p-a/x')),
      { roles: [{ role: 'agent' }], ...virtual('a', 'x') },
    ],
    ['names the used projects', projects('*'), usageOf(['get vci p-b/*', 'list vci p-a/']), projects('a', 'b')],
    ['names a project by its space', projects('*'), usageOf(['cluster c: get pods p-a-s-x/*']), projects('a')],
    ['names a used cluster', clusters('*'), usageOf(['cluster c: get pods s/*']), clusters('c')],
    ['names a cluster that accepts the key', clusters('*'), usageOf([], accepted('cluster d')), clusters('d')],
    ['names no cluster twice', clusters('*', 'c'), usageOf(['cluster c: get pods s/*']), clusters('c')],
    [
      'names a used space',
      { spaces: [{ project: 'a', space: '*' }] },
      usageOf(['cluster c: get pods p-a-s-x/*']),
      { spaces: [{ project: 'a', space: 'x' }] },
    ],
    [
      'names the virtual cluster of a kube config',
      virtual('a', '*'),
      usageOf(['create vci/kubeconfig p-a/x']),
      virtual('a', 'x'),
    ],
    [
      'keeps a wildcard that meets new names every day',
      projects('*', 'p1'),
      usageOf(Array.from({ length: 11 }, (_, index) => `list vci p-p${index + 2}/`)),
      projects('*'),
    ],
    ['keeps a wildcard where names are not recorded', virtual('a', '*'), usageOf(['get vci p-a/*']), undefined],
    [
      'keeps a wildcard at a cluster that never asks',
      clusters('*', 'd'),
      usageOf(['cluster d: get pods s/*'], { silent: ['cluster c'], ...accepted('cluster c') }),
      undefined,
    ],
    ['keeps a wildcard of tokens', clusters('*'), usageOf(['cluster c: get pods s/*', TOKEN]), undefined],
    [
      'keeps the last cluster of tokens',
      { ...clusters('c', 'd'), rules: [{ requestTargets: ['Management'], namespaces: [''] }] },
      usageOf([TOKEN]),
      {
        clusters: [{ cluster: 'd' }],
        rules: [managed(['create'], 'directclusterendpointtokens', '')],
      },
    ],
    [
      'keeps what a certificate needs',
      {
        rules: [
          { verbs: ['create'], namespaces: ['p-a'], requestTargets: ['Management'] },
          { requestTargets: ['ProjectVirtualCluster'] },
        ],
        ...projects('b'),
      },
      usageOf(['create vci/kubeconfig p-a/x']),
      {
        rules: [
          managed(['create'], 'virtualclusterinstances/kubeconfig', 'p-a', { resourceNames: ['x'] }),
          { requestTargets: ['ProjectVirtualCluster'] },
        ],
      },
    ],
    [
      'keeps the cluster for which an agent asks',
      { roles: [{ role: 'agent' }], ...clusters('c'), allowPlatformCli: true },
      usageOf(['create subjectaccessreviews']),
      { roles: [{ role: 'agent' }], ...clusters('c') },
    ],
    [
      'keeps roles of other services and releases',
      { roles: [{ role: 'runner' }, { role: 'moon' }], ...projects('a', 'b') },
      usageOf(['list vci p-a/']),
      { roles: [{ role: 'runner' }, { role: 'moon' }], ...projects('a') },
    ],
    [
      'keeps the creation of an apply',
      { rules: [{ verbs: ['patch'] }, { verbs: ['create'] }, { verbs: ['list'] }] },
      usageOf(['patch vci p-a/*']),
      {
        rules: [managed(['patch'], 'virtualclusterinstances', 'p-a'), { verbs: ['create'] }],
      },
    ],
    [
      'has fewer verbs and resources in rules',
      { rules: [{ verbs: ['*'], resources: [{ resources: ['*'] }] }] },
      usageOf(['cluster c: get pods s/*', 'cluster d: list secrets s/']),
      {
        rules: [
          { verbs: ['get'], resources: [{ resources: ['pods'] }], namespaces: ['s'], requestTargets: ['Cluster'] },
          { verbs: ['list'], resources: [{ resources: ['secrets'] }], namespaces: ['s'], requestTargets: ['Cluster'] },
        ],
      },
    ],
    [
      'is absent when all of a rule is used',
      {
        rules: [
          { verbs: ['list', 'get'], resources: [{ group: '', resources: ['pods'] }], namespaces: ['s'], cluster: 'c' },
        ],
      },
      usageOf(['cluster c: get pods s/*', 'cluster c: list pods s/']),
      undefined,
    ],
    [
      'has a rule for spaces if the rule allows only spaces',
      { rules: [{ requestTargets: ['ProjectSpace', 'Management'] }] },
      usageOf(['cluster c: get pods p-a-s-x/*']),
      {
        rules: [
          {
            verbs: ['get'],
            resources: [{ resources: ['pods'] }],
            namespaces: ['p-a-s-x'],
            requestTargets: ['ProjectSpace'],
          },
        ],
      },
    ],
    [
      'has one rule for a request to all namespaces and those to one',
      { rules: [{}] },
      usageOf(['cluster c: list pods */', 'cluster c: list pods s/', 'cluster c: list pods s/x']),
      { rules: [{ verbs: ['list'], resources: [{ resources: ['pods'] }], requestTargets: ['Cluster'] }] },
    ],
    [
      'leaves a rule that names the absence of a name',
      { rules: [{ resources: [{ resources: ['pods', 'secrets'], resourceNames: [''] }] }] },
      usageOf(['cluster c: list pods s/']),
      undefined,
    ],
    [
      'leaves a rule that it does not understand',
      { rules: [{ moons: ['io'] }] } as unknown as Scope,
      usageOf(['get vci p-a/*']),
      undefined,
    ],
    [
      'leaves a rule that is used by a wildcard',
      { rules: [{}] },
      usageOf(['cluster c: * pods s/*', 'get vci p-a/*']),
      undefined,
    ],
  ])('%s', (_, scope, usage, expected) => expect(advise(scope, usage).scope).toEqual(expected))

  test('is named line by line', () => {
    const scope = { ...projects('b', '*'), ...clusters('c') }
    expect(advise(scope, usageOf(['list vci p-a/']))).toEqual({
      scope: projects('a'),
      dropped: ['spec.scope.projects[0]', 'spec.scope.clusters[0]'],
      narrowed: ['spec.scope.projects[1]'],
      unknowns: [],
    })
  })

  test('still lets a cluster accept the key that an inherited scope names', () => {
    const inherited = [{ ...clusters('c'), ...projects('a') }]
    const usage = usageOf(['list vci p-a/'], accepted('cluster c'))
    expect(adviseScope({ rules: [{}] }, usage, { ...OPTIONS, inherited }).scope).toBeUndefined()
    expect(advise({ rules: [{}] }, usage).scope).toBeDefined()
  })

  test('stays within the limits', () => {
    const many = Array.from({ length: 90 }, (_, index) => `cluster c: get ${'x'.repeat(60)}${index} s/`)
    const { scope, narrowed } = advise({ rules: [{}], ...projects('*', 'b') }, usageOf([...many, 'list vci p-a/']))
    expect([scope, narrowed]).toEqual([{ rules: [{}], ...projects('a') }, ['spec.scope.projects[0]']])
    expect(byteLength(scope)).toBeLessThan(MAX_CHAIN_BYTES)
  })
})

describe('the first scope of a key', () => {
  test('has a line for each place and exact rules for this API', () => {
    const used = [
      'get vci p-a/*',
      'list vci p-a/',
      'list vci p-b/',
      'get /metrics',
      'create vci/kubeconfig p-a/x',
      'cluster c: get pods s/*',
      'vc p-b/y: get pods s/*',
    ]
    expect(advise(undefined, usageOf(used))).toEqual({
      scope: {
        ...clusters('c'),
        virtualClusters: [
          { project: 'a', virtualCluster: 'x' },
          { project: 'b', virtualCluster: 'y' },
        ],
        rules: [
          managed(['get', 'list'], 'virtualclusterinstances', 'p-a'),
          { verbs: ['get'], nonResourceURLs: ['/metrics'], requestTargets: ['Management'] },
          managed(['list'], 'virtualclusterinstances', 'p-b'),
        ],
      },
      dropped: [],
      narrowed: [],
      unknowns: [],
    })
  })
})

describe('no scope is advised', () => {
  const one = usageOf(['list vci p-a/'])
  const scope = projects('a', 'b')
  test.each<[string, RegExp, Scope | undefined, Usage]>([
    ['Incomplete', /did more/, scope, { ...one, isIncomplete: true }],
    ['Unused', /No request/, scope, usageOf([])],
    ['Unused', /No request/, {}, usageOf(['get /version', 'cluster c: get /healthz'])],
    ['Unused', /No request/, undefined, usageOf(['create selves'])],
    ['MakesKeys', /makes or changes/, { rules: [{}] }, usageOf(['create ownedaccesskeys'])],
    ['MakesKeys', /makes or changes/, undefined, usageOf(['patch federatedidentitycredentials *'])],
    ['Incomplete', /tokens/, undefined, usageOf([TOKEN])],
    ['Incomplete', /reviews/, undefined, usageOf(['create subjectaccessreviews'])],
    ['Incomplete', /exactly/, undefined, usageOf(['vc default/x: get pods s/*'])],
    ['Incomplete', /exactly/, undefined, usageOf(['cluster *: get pods s/*'])],
    ['Incomplete', /exactly/, undefined, usageOf(['get /logs/*'])],
    [
      'Incomplete',
      /exactly/,
      undefined,
      usageOf(Array.from({ length: 90 }, (_, index) => `get ${'x'.repeat(60)}${index}`)),
    ],
  ])('because of %s, %s: %j %j', (reason, message, of, usage) => {
    const { scope: advised, unknowns } = advise(of, usage)
    const withholding = unknowns.find(({ withholds }) => withholds)
    expect([advised, withholding]).toEqual([
      undefined,
      { reason, message: expect.stringMatching(message), withholds: true },
    ])
  })

  test('but a week that is not over is only said', () => {
    expect(advise(scope, { ...one, days: 6 }).unknowns).toEqual([
      { reason: 'Incomplete', message: 'The record covers 6 days, so rare requests may be missing.' },
    ])
    for (const days of [6, 0, Number.NaN]) expect(advise(scope, { ...one, days }).scope).toEqual(projects('a'))
    expect(reasonsOf(scope, { ...one, days: 7 })).toEqual([])
  })

  test('but what tokens were only for is said, if lines for clusters go', () => {
    const rest = { rules: [{ requestTargets: ['Management' as const] }] }
    const both = usageOf([TOKEN, 'cluster c: get pods s/*'])
    expect(reasonsOf({ ...clusters('c', 'd'), ...rest }, both)).toEqual(['Incomplete'])
    expect(reasonsOf({ ...clusters('c'), ...rest }, both)).toEqual([])
  })

  test('but what a key with the scope may not read of other keys is said', () => {
    const [reading, keys] = [usageOf(['get ownedaccesskeys/usage *']), { rules: [{ verbs: ['get'] }] }]
    expect([reasonsOf(undefined, reading), reasonsOf(keys, reading)]).toEqual([['Incomplete'], ['Incomplete']])
    expect(advise(undefined, reading).scope).toBeDefined()
  })

  test('but lines that reach a cluster that never asks are named', () => {
    const usage = usageOf(['list vci p-a/', TOKEN], { silent: ['cluster c'] })
    expect(
      advise({ ...projects('a'), ...clusters('c'), rules: [{ requestTargets: ['Management'] }] }, usage),
    ).toMatchObject({
      unknowns: [{ reason: 'ClusterNeverAsks', message: expect.stringMatching(/: .*spec\.scope\.clusters\[0\]/) }],
    })
  })

  test('to a key that rotates itself only because its role lets it do so', () => {
    const rotating = usageOf(['create ownedaccesskeys/rotate *'])
    expect(advise({ roles: [{ role: 'selfRotate' }], ...projects('a') }, rotating).scope).toEqual({
      roles: [{ role: 'selfRotate' }],
    })
  })
})

describe('a line that stays whole', () => {
  const INVALID = entryOf('cluster c: get pods s/*')
  const foreign: Usage = {
    ...usageOf([]),
    entries: [
      {
        entry: { ...INVALID, attributes: { ...INVALID.attributes, group: 'Bad_Group' } as UsedEntry['attributes'] },
        day: '2026-11-10',
      },
    ],
  }
  // threat: users-19
  test.each<[string, Scope, Usage, string]>([
    [
      'a path with a wildcard',
      { rules: [{ verbs: ['get'] }] },
      usageOf(['get /metrics', 'get /logs/*']),
      'spec.scope.rules[0] stays as it is: no entry of a scope is as narrow as get of path "/logs/*".',
    ],
    [
      'a verb with a wildcard in the second line',
      { ...projects('a'), rules: [{ requestTargets: ['Cluster'] }] },
      usageOf(['list vci p-a/', 'cluster c: * pods s/*']),
      'spec.scope.rules[0] stays as it is: no entry of a scope is as narrow as * of pods in namespace "s" in cluster "c".',
    ],
    [
      'a group that is invalid',
      { rules: [{}] },
      foreign,
      'spec.scope.rules[0] stays as it is: no entry of a scope is as narrow as get of pods in namespace "s" in cluster "c".',
    ],
    [
      'more than three requests',
      { rules: [{ verbs: ['get'] }] },
      usageOf(['get /a*', 'get /b*', 'get /c*', 'get /d*', 'get /e*']),
      'spec.scope.rules[0] stays as it is: no entry of a scope is as narrow as get of path "/a*", get of path "/b*", get of path "/c*", 2 more.',
    ],
    [
      'a cluster whose name is a wildcard',
      clusters('*'),
      usageOf(['cluster *: get pods s/*']),
      'spec.scope.clusters[0] stays as it is: no entry of a scope is as narrow as get of pods in namespace "s" in cluster "*".',
    ],
  ])('because of %s is an unknown with its line and request', (_, scope, usage, message) => {
    const { scope: advised, unknowns, narrowed } = advise(scope, usage)
    expect([advised, narrowed]).toEqual([undefined, []])
    expect(unknowns).toEqual([{ reason: 'Incomplete', message }])
  })

  test('because it was used as it is has no unknown', () => {
    for (const [scope, usage] of [
      [projects('a'), usageOf(['list vci p-a/'])],
      [
        { rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'], requestTargets: ['Management'] }] },
        usageOf(['get /metrics']),
      ],
    ] as [Scope, Usage][])
      expect(advise(scope, usage).unknowns).toEqual([])
  })
})

describe('a line', () => {
  test('was used on the last day of what it alone allows', () => {
    const usage = usageOf(['list vci p-a/', 'cluster c: get pods p-a-s-x/*'], accepted('cluster c'))
    expect(usedLines({ ...projects('b', 'a'), ...clusters('c'), allowPlatformCli: true }, usage, OPTIONS)).toEqual([
      { line: 'spec.scope.projects[0]', state: 'Unused' },
      { line: 'spec.scope.projects[1]', state: 'Used', lastUsed: '2026-11-11' },
      { line: 'spec.scope.clusters[0]', state: 'Used', lastUsed: '2026-11-11' },
      { line: 'spec.scope.allowPlatformCli', state: 'Used', lastUsed: '2026-11-10' },
    ])
  })

  test.each<[string, Scope, Usage, string]>([
    [
      'unknown if its cluster never asks and accepted the key',
      clusters('c', 'd'),
      usageOf(['cluster d: get pods s/*'], { silent: ['cluster c'], ...accepted('cluster d') }),
      'Unused',
    ],
    ['unused if nothing could be used there', clusters('c'), usageOf([], { silent: ['cluster c'] }), 'Unused'],
    [
      'unknown if a token was made and its cluster never asks',
      clusters('c'),
      usageOf([TOKEN], { silent: ['cluster c'] }),
      'Unknown',
    ],
    [
      'unknown if a client certificate may need it',
      { rules: [{ requestTargets: ['ProjectVirtualCluster'] }] },
      usageOf(['create vci/kubeconfig p-a/x']),
      'Unknown',
    ],
    [
      'unused by what every scope allows',
      clusters('c'),
      usageOf(['get /version', 'cluster d: get /healthz']),
      'Unused',
    ],
    [
      'unknown if its role allows something in a virtual cluster that never asks',
      { roles: [{ role: 'vcluster', virtualClusters: ['a/x'] }] },
      usageOf(['create vci/kubeconfig p-a/x'], { silent: ['vc p-a/x'] }),
      'Unknown',
    ],
    ['unused if its cluster asks', clusters('c'), usageOf([TOKEN]), 'Unused'],
    ['unknown if a token was made and it is for spaces of any cluster', projects('a'), usageOf([TOKEN]), 'Unknown'],
    [
      'unknown if a kube config was made for a virtual cluster that never asks',
      { rules: [{ virtualClusters: [{ name: 'x' }], verbs: ['get'] }] },
      usageOf(['create vci/kubeconfig p-a/x'], { silent: ['vc p-a/x'] }),
      'Unknown',
    ],
    [
      'unused if the kube config is for another virtual cluster',
      virtual('a', 'y'),
      usageOf(['create vci/kubeconfig p-a/x'], { silent: ['vc p-a/x'] }),
      'Unused',
    ],
    ['unknown if more was done than is recorded', projects('a'), usageOf([], { isIncomplete: true }), 'Unknown'],
  ])('is %s', (_, scope, usage, state) => expect(usedLines(scope, usage, OPTIONS)[0]?.state).toBe(state))

  test('is unused if an inherited scope confines it to a cluster that asks', () => {
    const states = (...inherited: Scope[]) =>
      usedLines(projects('a'), usageOf([TOKEN]), { ...OPTIONS, inherited }).map(({ state }) => state)
    expect([states(), states(clusters('c'))]).toEqual([['Unknown'], ['Unused']])
  })
})
