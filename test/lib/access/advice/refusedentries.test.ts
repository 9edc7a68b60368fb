/** Tests which recorded requests a change of scopes would refuse. */
import { expect, test } from 'vitest'
import { refusedEntries } from '../../../../lib/access/advice/refusedentries.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { OPTIONS } from './arbitraryusage.ts'
import { usageOf } from './usagetext.ts'

const projects = (...names: string[]): Scope => ({ projects: names.map((project) => ({ project })) })
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const keyRule = (verb: string, more: object = {}): Scope => ({
  rules: [{ verbs: [verb], resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'], ...more }] }],
})
const tokens: Scope = {
  rules: [
    {
      verbs: ['create'],
      resources: [{ group: 'management.platform', resources: ['directclusterendpointtokens'] }],
      requestTargets: ['Management'],
    },
  ],
}
const selfRotate: Scope = { roles: [{ role: 'selfRotate' }] }
const platform: Scope = { roles: [{ role: 'platformCLI' }] }

/** Returns the places of the refused requests, `some` of those that only some names are. */
function refused(did: string[], before: Scope[], after: Scope[], isMaster = false) {
  const { entries } = usageOf(did)
  const all = refusedEntries(entries, { before, after, name: 'ci', isMaster }, OPTIONS)
  return all.map(({ entry, isCertain }) => [
    did[entries.findIndex((one) => one.entry === entry)],
    ...(isCertain ? [] : ['some']),
  ])
}

test.each<[string, string[], Scope[], Scope[], string[][]]>([
  [
    'what the new scope leaves out',
    ['list vci p-a/', 'list vci p-b/'],
    [projects('a', 'b')],
    [projects('a')],
    [['list vci p-b/']],
  ],
  ['nothing that stays allowed', ['list vci p-a/', 'get vci p-a/*'], [], [projects('a')], []],
  ['nothing that is refused already', ['list vci p-b/'], [projects('a')], [projects('a'), {}], []],
  [
    'what a further scope of the chain refuses',
    ['list vci p-a/'],
    [projects('a')],
    [projects('a'), {}],
    [['list vci p-a/']],
  ],
  [
    'requests in clusters',
    ['cluster c: get pods s/*', 'cluster d: get pods s/*'],
    [],
    [clusters('c')],
    [['cluster d: get pods s/*']],
  ],
  [
    'some of the requests of which the new scope allows one name',
    ['get vci p-a/*'],
    [projects('a')],
    [{ virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }],
    [['get vci p-a/*', 'some']],
  ],
  [
    'what becomes a right for the key itself only',
    ['get ownedaccesskeys *', 'get ownedaccesskeys ci'],
    [keyRule('get')],
    [selfRotate],
    [['get ownedaccesskeys *', 'some']],
  ],
  [
    'tokens that would be for no cluster',
    ['create directclusterendpointtokens'],
    [{ ...tokens, ...clusters('c') }],
    [tokens],
    [['create directclusterendpointtokens']],
  ],
  [
    'no tokens while one cluster is left',
    ['create directclusterendpointtokens'],
    [{ ...tokens, ...clusters('c', 'd') }],
    [{ ...tokens, ...clusters('c') }],
    [],
  ],
])('names %s', (_, did, before, after, expected) => {
  expect(refused(did, before, after)).toEqual(expected)
})

test('names what administrators see less of, and others do not', () => {
  const did = ['list ownedaccesskeys']
  expect(refused(did, [keyRule('list')], [platform], true)).toEqual([['list ownedaccesskeys', 'some']])
  expect(refused(did, [keyRule('list')], [platform])).toEqual([])
})
