import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffScopes, removesSomething } from '../../../../lib/access/advice/scopediff.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import { runs } from '../../../support/effort.ts'
import { quotedByKubernetes } from '../../../support/yamlstrings.ts'
import { scope } from '../arbitraries.ts'

describe('the difference of two scopes', () => {
  test.each<[Scope | undefined, Scope, string[], string[]]>([
    [
      { projects: [{ project: 'a' }, { project: '*' }] },
      { projects: [{ project: 'a' }, { project: 'b' }] },
      ['projects: {project: "*"}'],
      ['projects: {project: b}'],
    ],
    [
      { allowPlatformCli: true },
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
      ['allowPlatformCli: true'],
      ['rules: {verbs: [get], nonResourceURLs: ["/x"]}'],
    ],
    [
      undefined,
      { clusters: [{ cluster: 'on' }] },
      ['everything its owner and groups may'],
      ['clusters: {cluster: "on"}'],
    ],
    [
      { clusters: [{ cluster: 'c' }, { cluster: 'c' }] },
      { clusters: [{ cluster: 'c' }] },
      ['clusters: {cluster: c}'],
      [],
    ],
    [{ roles: [], allowPlatformCli: false }, {}, [], []],
  ])('%j and %j', (before, after, removed, added) => expect(diffScopes(before, after)).toEqual({ removed, added }))

  test('quotes every string that Kubernetes quotes', () => {
    const { added } = diffScopes({}, { clusters: quotedByKubernetes.map((cluster) => ({ cluster })) })
    expect(added.filter((line) => !line.endsWith('"}'))).toEqual([])
  })

  test('is YAML that reads as the entries, each in one line', async () => {
    await fc.assert(
      fc.asyncProperty(scope, fc.string(), async (before, text) => {
        const clusters = [{ cluster: text }]
        const { removed } = diffScopes({ ...before, clusters }, {})
        expect(removed.filter((line) => line.includes('\n'))).toEqual([])
        const read = await Promise.all(removed.map(async (line) => (await parseYaml(line)).value))
        expect(read.filter((one) => Object.hasOwn(one as object, 'clusters'))).toEqual([{ clusters: clusters[0] }])
      }),
      runs(300),
    )
  })
})

test.each([
  [undefined, { clusters: [{ cluster: 'a' }] }, true],
  [{ clusters: [{ cluster: 'a' }] }, { clusters: [{ cluster: 'a' }, { cluster: 'b' }] }, false],
  [{ clusters: [{ cluster: 'a' }, { cluster: 'b' }] }, { clusters: [{ cluster: 'a' }] }, true],
  // Beside the role view, the same entry allows less.
  [{ clusters: [{ cluster: 'a' }] }, { roles: [{ role: 'view' }], clusters: [{ cluster: 'a' }] }, true],
  [{ roles: [{ role: 'view' }] }, { roles: [{ role: 'view' }], clusters: [{ cluster: 'a' }] }, false],
])('%j has something that %j lacks: %j', (before, after, expected) => {
  expect(removesSomething(before, after)).toBe(expected)
})
