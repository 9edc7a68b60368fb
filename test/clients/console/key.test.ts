/** What the page of a key reads from the key: its rotation and its history; and what it sends. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError, isUncertain, NetworkError } from '../../../clients/console/src/api/status.ts'
import { selectionOf } from '../../../clients/console/src/components/revocation/selection.ts'
import { type Edit, editOf, endWith, patchOf } from '../../../clients/console/src/pages/key/actions/edit.ts'
import { rotationOf, valuesOf, whyNot } from '../../../clients/console/src/pages/key/rotation/rotation.ts'
import { choiceOf, countProblem, secondsOf } from '../../../clients/console/src/text/lifetimechoice.ts'
import { scopeEntries } from '../../../clients/console/src/text/scopeentries.ts'
import { actorWords, eventDetails, eventWords } from '../../../clients/core/src/historywords.ts'
import type { AccessKey, KeyValue } from '../../../clients/core/src/objects.ts'

const AT = '2026-11-22T12:00:00Z'
const LATER = '2026-11-22T13:00:00Z'

const keyOf = (name: string, key: { metadata?: object; spec?: object; status?: object } = {}): AccessKey => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7', creationTimestamp: AT, ...key.metadata },
  spec: { ...key.spec },
  status: { ...key.status },
})

test('a revocation of selected keys names them, and leaves out later keys of these names', () => {
  const made = [AT, LATER, 'x'].map((creationTimestamp, at) => keyOf(`k${at}`, { metadata: { creationTimestamp } }))
  expect(selectionOf(made)).toEqual({ names: ['k0', 'k1', 'k2'], createdBefore: '2026-11-22T13:00:01Z' })
})

describe('the rotation of a key', () => {
  const value = (state: KeyValue['state']): fc.Arbitrary<KeyValue> =>
    fc.record(
      {
        state: fc.constant(state),
        made: fc.constantFrom(AT, LATER, '2026-11-22T14:00:00Z'),
        hint: fc.constantFrom('abc123', 'def456'),
        lastActivity: fc.constantFrom(AT, LATER),
      },
      { requiredKeys: ['state'] },
    )
  /** At most one value of each state, in any order, as any server might answer. */
  const values = fc
    .tuple(
      fc.option(value('Current'), { nil: undefined }),
      fc.option(value('Pending'), { nil: undefined }),
      fc.option(value('Retiring'), { nil: undefined }),
    )
    .chain((all) =>
      fc.shuffledSubarray(
        all.filter((one) => one !== undefined),
        { minLength: all.filter(Boolean).length },
      ),
    )

  test('waits for a first use while any value is pending, then is in its overlap while one is retiring', () => {
    fc.assert(
      fc.property(values, (all) => {
        const has = (state: KeyValue['state']) => all.some((one) => one.state === state)
        const { step, fresh, old } = rotationOf(all)
        expect(step).toBe(has('Pending') ? 'use' : has('Retiring') ? 'overlap' : 'make')
        if (step === 'use') expect([fresh?.state, old?.state ?? 'Current']).toEqual(['Pending', 'Current'])
        if (step === 'overlap') expect([fresh?.state ?? 'Current', old?.state]).toEqual(['Current', 'Retiring'])
        if (step === 'make') expect([fresh, old]).toEqual([undefined, undefined])
      }),
    )
  })

  test('of a key that was never rotated has the value that it was made with', () => {
    const key = keyOf('ci', { status: { lastActivity: LATER } })
    expect(valuesOf(key)).toEqual([{ state: 'Current', made: AT, lastActivity: LATER }])
    expect(rotationOf(valuesOf(key)).step).toBe('make')
  })

  test.each([
    ['Active', undefined],
    ['Disabled', undefined],
    ['Expired', /expired/],
    ['Unused', /ended for good/],
    ['Terminating', /being deleted/],
  ])('of a key in phase %s', (phase, words) => {
    const why = whyNot(keyOf('ci', { status: { phase } }))
    if (words === undefined) expect(why).toBeUndefined()
    else expect(why).toMatch(words)
  })
})

test('a request may have had an effect if there was no answer or the server failed', () => {
  expect([400, 403, 409, 422, 429, 507].map((code) => isUncertain(new ApiError(code, {})))).toEqual(
    Array(6).fill(false),
  )
  expect([500, 503, 504].map((code) => isUncertain(new ApiError(code, {})))).toEqual(Array(3).fill(true))
  expect(isUncertain(new NetworkError(new Error()))).toBe(true)
})

describe('what happened to a key', () => {
  test('is said in words, with who did it and where', () => {
    const actor = { user: 'alice', accessKey: 'ci' }
    const words = [
      { type: 'changed', actor, fields: ['spec.ttl', 'spec.scope', 'spec.ofAnotherRelease'] },
      { type: 'changed', actor, fields: ['spec.disabled'] },
      { type: 'changed', fields: ['status.values'] },
      { type: 'changed', fields: ['metadata.finalizers'] },
      { type: 'revoked', actor: { user: 'system:controller:garbage-collector' }, how: 'Disabled' },
      { type: 'new-address', ip: '192.0.2.1', userAgent: 'curl/8' },
      { type: 'expiring', days: 1 },
      { type: 'of-another-release' },
    ].map((event) => ({ time: AT, ...event }))
    expect(words.map((event) => [eventWords(event), actorWords(event), eventDetails(event).join(', ')])).toEqual([
      ['scope changed, lifetime changed', 'alice with ci', 'spec.ofAnotherRelease'],
      ['enabled', 'alice with ci', ''],
      ['new value discarded', '', ''],
      ['changed', '', 'metadata.finalizers'],
      ['disabled', 'system:controller:garbage-collector', ''],
      ['used from a new address', '', 'from 192.0.2.1, by curl/8'],
      ['expires soon', '', 'in 1 day'],
      ['of-another-release', '', ''],
    ])
  })

  const [small, other] = [{ projects: [{ project: 'a' }] }, { projects: [{ project: 'b' }] }]
  const wide = { projects: [{ project: 'a' }, { project: 'c' }] }

  test.each([
    [wide, small, 'narrowed', '- projects: {project: c}'],
    [small, wide, 'widened', '+ projects: {project: c}'],
    [small, other, 'changed', '- projects: {project: a}, + projects: {project: b}'],
    [undefined, small, 'narrowed', expect.stringContaining('+ projects: {project: a}')],
    [small, undefined, 'widened', expect.stringContaining('- projects: {project: a}')],
    [small, { ...small, roles: [{ role: 'view' }] }, 'changed', '+ roles: {role: view}'],
  ])('of the last change of its scope, from %j to %j, is that it was %s', (before, after, act, diff) => {
    const formerScope = { ...(before && { scope: before }), replaced: AT }
    const key = keyOf('ci', { spec: { ...(after && { scope: after }) }, status: { formerScope } })
    const event = { time: AT, type: 'changed', fields: ['spec.scope'] }
    expect([eventWords(event, key), eventDetails(event, key).join(', ')]).toEqual([`scope ${act}`, diff])
    const earlier = { ...event, time: '2026-01-01T00:00:00Z' }
    expect([eventWords(earlier, key), eventDetails(earlier, key)]).toEqual(['scope changed', []])
  })
})

describe('an edit', () => {
  const key = keyOf('ci', {
    spec: { displayName: 'CI', ttl: 86_400, sourceCIDRs: ['10.0.0.0/8'], scope: { projects: [{ project: 'a' }] } },
  })
  const none = editOf(key)
  const editWith = (changes: Partial<Edit['after']>): Edit => ({ ...none, after: { ...none.after, ...changes } })
  const specWith = (changes: Partial<Edit['after']>) => patchOf('uid-ci', editWith(changes))?.spec

  test('without a change sends nothing', () => {
    expect(patchOf('uid-ci', none)).toBeUndefined()
    expect(specWith({ lifetime: 'custom', count: '24', unit: 'hours', sources: ' 10.0.0.0/8,' })).toBeUndefined()
    expect(patchOf('uid-x', editOf(keyOf('x')))).toBeUndefined()
  })

  test('sends only what has changed, for the version that was seen', () => {
    expect(patchOf('uid-ci', editWith({ displayName: '' }))).toEqual({
      metadata: { uid: 'uid-ci', resourceVersion: '7' },
      spec: { displayName: '' },
    })
    expect(specWith({ lifetime: 'custom', count: '2', unit: 'days' })).toEqual({ ttl: 172_800 })
    expect(specWith({ lifetime: 'never' })).toEqual({ ttl: null })
    expect(specWith({ sources: ' 10.0.0.0/8,\n::1 ' })).toEqual({ sourceCIDRs: ['10.0.0.0/8', '::1'] })
    expect(specWith({ sources: '' })).toEqual({ sourceCIDRs: null })
  })

  test('knows when the key would expire', () => {
    const hour = choiceOf(3600)
    expect(endWith(key, hour)).toBe(Date.parse(LATER))
    const sliding = keyOf('x', { spec: { ttlAfterLastActivity: true }, status: { lastActivity: LATER } })
    expect(endWith(sliding, hour)).toBe(Date.parse(LATER) + 3_600_000)
    expect([endWith(key, choiceOf()), endWith(key, { ...hour, lifetime: 'custom' })]).toEqual([undefined, undefined])
  })
})

test.each(['', '0', '-1', '1.5', '1e3', '９'])('%j is not a number of a lifetime', (count) => {
  expect(countProblem({ lifetime: 'custom', count, unit: 'days' })).toBeDefined()
})

test('a choice of a lifetime means every lifetime that a key can have', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999 }), (seconds) => {
      expect(secondsOf(choiceOf(seconds))).toBe(seconds)
    }),
  )
  expect([secondsOf(choiceOf()), choiceOf(90), choiceOf(86_400).lifetime]).toEqual([
    undefined,
    { lifetime: 'custom', count: '90', unit: 'seconds' },
    '86400',
  ])
})

describe('a scope entry by entry', () => {
  test('has each entry with everything that restricts it', () => {
    const rule = {
      verbs: ['get'],
      resources: [{ group: '', resources: ['pods', 'log'] }],
      namespaces: [''],
      cluster: '',
      requestTargets: [],
    }
    const scope = { projects: [{ project: 'a' }, { project: '*' }], rules: [rule, {}], allowPlatformCli: false }
    expect(scopeEntries(scope)).toEqual([
      'project a',
      'all projects',
      'get pods, log in namespaces ""',
      'everything its owner and groups may (a rule without limits)',
    ])
    expect(scopeEntries(undefined)).toEqual([])
  })

  test.each([
    [
      { verbs: ['get'], resources: [{ group: '', resources: ['pods', 'log'] }], namespaces: ['a', 'b'] },
      'get pods, log in namespaces a, b',
    ],
    [
      { resources: [{ group: 'apps', resources: ['*'], resourceNames: ['x'] }], cluster: 'eu' },
      'any verb for apps/*/x in cluster eu',
    ],
    [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, 'get at /healthz'],
    [
      { verbs: ['*'], virtualClusters: [{ namespace: 'p-a', name: 'v' }], requestTargets: ['VirtualCluster'] },
      '* everything in virtual clusters p-a/v of VirtualCluster',
    ],
    [{ verbs: ['get'], users: ['alice'] }, 'get everything users alice'],
  ])('says a rule in words: %j', (rule, words) => expect(scopeEntries({ rules: [rule] })).toEqual([words]))

  test('never fails, whatever a server answers', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('roles', 'rules', 'projects', 'x'), fc.jsonValue()), (scope) => {
        for (const words of scopeEntries(scope)) expect(words).not.toBe('')
      }),
    )
  })
})
