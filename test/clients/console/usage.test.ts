/** What the page of a key says about its usage. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeTo, dropChange, type ScopeChange } from '../../../clients/console/src/pages/key/actions/scopestep.ts'
import { clusterWords, lineWords, recordingWords } from '../../../clients/console/src/pages/key/usage/usedlines.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../../lib/engine/meta/patch/jsonpatch.ts'
import { keyOf } from './keys.ts'

describe('the lines of a scope', () => {
  const scope = { projects: [{ project: 'a' }, { project: 'b' }], allowPlatformCli: true }
  const line = (name: string, state = 'Unused') => ({ line: name, state })
  const wordsOf = (lines: { line: string; state: string }[], of: object | undefined = scope) =>
    lineWords(lines, of).map(({ words }) => words)

  test('say what each allows, and whether and when it was used', () => {
    const lines = [
      { ...line('spec.scope.projects[0]', 'Used'), lastUsed: '2026-11-20' },
      line('spec.scope.projects[1]'),
      line('spec.scope.allowPlatformCli', 'Unknown'),
    ]
    expect(lineWords(lines, scope).map(({ words, state, stateWords }) => [words, state, stateWords])).toEqual([
      ['project a', 'Used', 'Used, last on 20 Nov 2026'],
      ['project b', 'Unused', 'Unused'],
      ['role platformCLI', 'Unknown', 'Unknown'],
    ])
  })

  test('name those that the key inherited, which its own scope must not explain', () => {
    const chain = ['chain[0].spec.scope.projects[0]', 'chain[1].spec.scope.projects[1]'].map((one) => line(one))
    expect(wordsOf(chain)).toEqual(['inherited: projects[0]', 'project b'])
    for (const own of [{}, undefined]) {
      expect(lineWords([line('spec.scope.projects[0]')], own)[0]?.words).toBe('inherited: projects[0]')
    }
  })

  test('are shown whatever a server says of them', () =>
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.option(fc.string(), { nil: undefined }), (name, state, lastUsed) => {
        const [shown] = lineWords([{ line: name, state, ...(lastUsed !== undefined && { lastUsed }) }], scope)
        expect(['Used', 'Unused', 'Unknown']).toContain(shown?.state)
        expect(shown?.words).not.toBe('')
      }),
    ))
})

test('a recording says since when it is, whether it has everything, and whether there is one', () => {
  expect(recordingWords({ recording: true, since: '2026-11-01T08:00:00Z', complete: true })).toEqual([
    'Recorded since 1 Nov 2026.',
  ])
  expect(recordingWords({ recording: true, complete: false })).toEqual([
    'It is not known yet how far back the record goes.',
    'The key did more than is recorded, so what is missing here may be used.',
  ])
  expect(recordingWords({ recording: false, complete: false })).toEqual([
    'This deployment does not record usage, so this page does not show what the key does now.',
  ])
})

test('a cluster that never asks is unknown', () => {
  const accepted = { name: 'clusters/prod', lastAccepted: '2026-11-02' }
  expect(clusterWords(accepted)).toBe(
    'Cluster prod never asks about requests, so what the key does there is not known. It last accepted the key on 2 Nov 2026.',
  )
  expect(clusterWords({ name: 'virtualclusters/p-a/b', lastAsked: '2026-11-03' })).toBe(
    'Virtual cluster p-a/b last asked on 3 Nov 2026.',
  )
})

describe('a change of a scope', () => {
  const [wide, small] = [{ projects: [{ project: 'a' }], rules: [{}] }, { projects: [{ project: 'a' }] }]
  type Key = ReturnType<typeof keyOf>
  const to = (scope?: object) => (key: Key) => changeTo(key, scope)

  test.each<[string, Key, (key: Key) => ScopeChange, object]>([
    ['another one', keyOf({ spec: { scope: wide } }), to(small), { scope: small }],
    ['one for a key without a scope', keyOf({ spec: { scope: undefined } }), to(small), { scope: small }],
    ['none', keyOf({ spec: { scope: small } }), to(), {}],
    [
      'without those that were added',
      keyOf({ spec: { scope: wide }, status: { addedScopes: [small] } }),
      dropChange,
      { scope: wide, dropAddedScopes: true },
    ],
  ])('makes just this of the key, and asks for the version that was seen: %s', (_, key, changeOf, spec) => {
    const { patch, isDone } = changeOf(key)
    const { operations } = decodeJsonPatch(Buffer.from(JSON.stringify(patch)))
    const changed = applyJsonPatch(key as never, operations).value as unknown as typeof key
    expect(changed).toEqual({ ...key, spec })
    expect(patch).toContainEqual({ op: 'replace', path: '/metadata/resourceVersion', value: '1' })
    expect(isDone(key)).toBe(false)
    expect(isDone({ ...changed, status: {} })).toBe(true)
    expect(isDone({ ...changed, metadata: { ...changed.metadata, uid: 'other' } })).toBe(false)
  })
})
