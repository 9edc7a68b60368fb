/** The form of a new key: its object, its sentence, and what is wrong with it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import {
  newRow,
  rowFieldOf,
  rowsOfScope,
  type ScopeRow,
  scopeOf,
  scopeProblems,
} from '../../../clients/console/src/components/scope/scoperows.ts'
import { emptyForm, formLike, type KeyForm, keyOf, ownGroups } from '../../../clients/console/src/pages/newkey/form.ts'
import { sentencesOf } from '../../../clients/console/src/pages/newkey/sentence.ts'
import { fieldOf, problemsOf, refusedFields } from '../../../clients/console/src/pages/newkey/validate.ts'
import type { Scope, Self } from '../../../clients/core/src/objects.ts'
import { byProject } from '../../../clients/core/src/words/places.ts'
import { validateScope } from '../../../lib/access/scopes/validatescope.ts'
import { type Facts, keyOf as keyLike } from './keys.ts'

const alice: Self = { user: { name: 'alice' }, uid: 'u', accessKey: 'k', groups: ['system:authenticated', 'team:shop'] }
/** Noon in the zone of this machine, in which the sentence tells times. */
const now = new Date(2026, 10, 22, 12)

const row = (id: number, changes: Partial<ScopeRow>): ScopeRow => ({ ...newRow(id), ...changes })
const formWith = (changes: Partial<KeyForm>): KeyForm => ({
  ...emptyForm,
  rows: [row(1, { project: 'demo' })],
  ...changes,
})
const scoped = (...rows: Partial<ScopeRow>[]): KeyForm =>
  formWith({ rows: rows.map((one, index) => row(index + 1, one)) })
const sentence = (form: KeyForm, self = alice, ownSources?: string[]) =>
  sentencesOf(keyOf(form), { self, now, ownSources }).join(' ')

const EVERY_KIND: Partial<ScopeRow>[] = [
  { kind: 'project', project: 'demo' },
  { kind: 'project', project: '*' },
  { kind: 'virtualCluster', project: 'p', name: 'x' },
  { kind: 'virtualCluster', project: 'p', name: '*' },
  { kind: 'space', project: 'p', name: 's' },
  { kind: 'cluster', name: 'west' },
  { kind: 'role', role: 'platformCLI', where: 'a, b' },
  { kind: 'role', role: 'vcluster', where: 'a/x' },
  { kind: 'role', role: 'selfRotate', where: 'is not used' },
  { kind: 'rule', verbs: 'get, list', resources: 'pods, deployments', group: 'apps', names: 'web', namespaces: 'shop' },
]

describe('the form of a key like another', () => {
  const like = (spec: object, more: Facts = {}) => formLike(keyLike({ spec, ...more }), alice)

  test('makes the same key, without its name, the labels of the server and the mark of a session', () => {
    const spec = {
      displayName: 'CI',
      description: 'Ask Bob.',
      team: 'shop',
      scope: { projects: [{ project: 'shop' }], roles: [{ role: 'vcluster', virtualClusters: ['a/x', 'b/y'] }] },
      ttl: 90 * 60,
      ttlAfterLastActivity: true,
      sourceCIDRs: ['10.0.0.0/8', '203.0.113.7'],
    }
    const labels = { app: 'shop', 'management.platform/made-by': 'x', 'keyplane/session': 'run' }
    const form = like(spec, { metadata: { labels }, status: { owner: 'team:shop' } })
    expect(keyOf(form)).toEqual({
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { generateName: 'key-', labels: { app: 'shop' } },
      spec,
    })
  })

  test('has neither its value nor whether it is disabled', () =>
    expect(keyOf(like({ key: 'k', disabled: true, type: 'User', scope: {} })).spec).toEqual({ scope: {} }))

  test.each<[string, object, string, object]>([
    ['alice', {}, 'alice', {}],
    ['alice', { user: 'alice' }, 'alice', {}],
    ['another user', {}, 'bob', { user: 'bob' }],
    ['a team', {}, 'team:shop', { team: 'shop' }],
    ['a subject', { subject: 'backup' }, 'subject:backup', { subject: 'backup' }],
    ['a user with the name of a team', { user: 'team:x' }, 'team:x', { user: 'team:x' }],
  ])('has the owner of the key: %s', (_, spec, owner, expected) =>
    expect(keyOf(like({ ...spec, scope: undefined }, { status: { owner } })).spec).toEqual(expected),
  )

  test('has the groups of the key that the form shows', () => {
    const self = { ...alice, groups: ['a', 'b'] }
    expect(formLike(keyLike({ spec: { groups: ['b', 'c'] } }), self).groups).toEqual(['b'])
  })

  test('has the rows of every kind of scope', () => {
    const { scope } = keyOf(scoped(...EVERY_KIND)).spec
    expect(scopeOf(rowsOfScope(scope ?? {}))).toEqual(scope)
  })

  test('has a row for each resource of a rule', () => {
    const [pods, apps] = [{ resources: ['pods'] }, { group: 'apps', resources: ['deployments'] }]
    expect(scopeOf(rowsOfScope({ rules: [{ verbs: ['get'], resources: [pods, apps] }] }))).toEqual({
      rules: [
        { verbs: ['get'], resources: [pods] },
        { verbs: ['get'], resources: [apps] },
      ],
    })
  })

  test.each<Scope>([
    { rules: [{ nonResourceURLs: ['/healthz'] }] },
    { rules: [{ verbs: ['get', 'a,b'] }] },
    {
      roles: [
        { role: 'vcluster', projects: ['a'], virtualClusters: ['b/x'] },
        { role: 'selfRotate', projects: ['a'] },
      ],
    },
    { allowPlatformCli: true },
    { projects: [{ project: 'a', other: 'x' } as object] },
  ])('keeps what fields cannot say of the scope %j', (scope) => {
    const { rows, isScoped } = like({ scope })
    expect([isScoped, scopeOf(rows)]).toEqual([true, scope])
    expect(rows.map(({ alone }) => alone)).toContainEqual(expect.anything())
  })

  test('has a field for a refusal of what stays as it is', () => {
    const rows = rowsOfScope({ rules: [{ verbs: ['get'] }, { cluster: 'c' }] })
    expect(rows.map(({ alone }) => alone)).toEqual([undefined, { rules: [{ cluster: 'c' }] }])
    expect(rowFieldOf('spec.scope.rules[1].cluster', rows)).toBe('2.verbs')
    expect(scopeProblems(rows)).toEqual([])
  })
})

describe('the object', () => {
  test('has what the form says and nothing else', () =>
    expect(keyOf(formWith({}))).toEqual({
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { generateName: 'key-' },
      spec: { ttl: 2_592_000, scope: { projects: [{ project: 'demo' }] } },
    }))

  test('has every field', () => {
    const form = formWith({
      name: ' ci ',
      displayName: ' CI of demo ',
      description: 'x',
      ownerKind: 'team',
      owner: 'shop',
      groups: ['g'],
      isScoped: false,
      lifetime: 'custom',
      count: '90',
      unit: 'minutes',
      isFromLastUse: true,
      sources: '10.0.0.0/8\n\n 203.0.113.7 ',
    })
    expect(keyOf(form)).toMatchObject({
      metadata: { name: 'ci' },
      spec: {
        displayName: 'CI of demo',
        description: 'x',
        team: 'shop',
        groups: ['g'],
        ttl: 5400,
        ttlAfterLastActivity: true,
        sourceCIDRs: ['10.0.0.0/8', '203.0.113.7'],
      },
    })
    expect(keyOf(form).spec).not.toHaveProperty('scope')
  })

  test('has no end without a lifetime, and then nothing counts from the last use', () => {
    const { spec } = keyOf(formWith({ lifetime: 'never', isFromLastUse: true }))
    expect([spec.ttl, spec.ttlAfterLastActivity]).toEqual([undefined, undefined])
  })

  test('has a scope of every kind of row, which the server accepts', () => {
    const { scope } = keyOf(scoped(...EVERY_KIND)).spec
    expect(scope).toEqual({
      projects: [{ project: 'demo' }, { project: '*' }],
      virtualClusters: [
        { project: 'p', virtualCluster: 'x' },
        { project: 'p', virtualCluster: '*' },
      ],
      spaces: [{ project: 'p', space: 's' }],
      clusters: [{ cluster: 'west' }],
      roles: [
        { role: 'platformCLI', projects: ['a', 'b'] },
        { role: 'vcluster', virtualClusters: ['a/x'] },
        { role: 'selfRotate' },
      ],
      rules: [
        {
          verbs: ['get', 'list'],
          resources: [{ group: 'apps', resources: ['pods', 'deployments'], resourceNames: ['web'] }],
          namespaces: ['shop'],
        },
      ],
    })
    expect(validateScope(scope)).toEqual([])
  })
})

describe('the sentence', () => {
  test.each<[KeyForm, string]>([
    [
      scoped({ project: 'demo' }, { kind: 'virtualCluster', project: 'p', name: 'x' }),
      'Acts as you, alice. May use project demo and virtual cluster p/x, and nothing else, as far as you may. Works from every address. Ends on 22 Dec 2026.',
    ],
    [
      formWith({ isScoped: false, lifetime: 'never', ownerKind: 'user', owner: 'bob', sources: '10.0.0.0/8' }),
      'Acts as the user bob. May do everything that this user may. Works only from 10.0.0.0/8. Never expires, unless the server sets a limit.',
    ],
    [
      formWith({ rows: [], lifetime: '86400', isFromLastUse: true }),
      'Acts as you, alice. May only ask who it is, what it may do, and what the API offers. Works from every address. Ends 1 day after its last use; if it is never used, on 23 Nov 2026, 12:00.',
    ],
    [
      formWith({ ownerKind: 'team', rows: [row(1, {})] }),
      'Acts as the team …. May use project ?, and nothing else, as far as this team may. Works from every address. Ends on 22 Dec 2026.',
    ],
    [
      formWith({ isScoped: false, lifetime: 'custom', count: '999999999', unit: 'days' }),
      'Acts as you, alice. May do everything that you may. Works from every address. Never expires, unless the server sets a limit.',
    ],
  ])('of form %# is exact', (form, words) => expect(sentence(form)).toBe(words))

  test('says which groups the key has, and which it lacks', () => {
    const admin = { ...alice, groups: ['system:masters', 'system:authenticated', 'ops'] }
    expect(ownGroups(admin)).toEqual(['system:masters', 'ops'])
    expect(sentence(formWith({ groups: ['ops'] }), admin)).toContain(
      'Is in the group ops. Is not in the group system:masters, unlike you.',
    )
    expect(sentence(formWith({ ownerKind: 'user', owner: 'bob' }), admin)).not.toContain('group')
  })

  test('says what the key inherits from the one of the session', () => {
    const self = { ...alice, accessKeyScope: { projects: [{ project: 'demo' }] } }
    expect(sentence(formWith({ isScoped: false }), self, ['10.0.0.0/8'])).toContain(
      'Stays within the scope of the key that you signed in with: project demo. Works only from 10.0.0.0/8, like the key that you signed in with.',
    )
  })

  test('quotes names that could be read as part of it', () => {
    const name = 'a, and everything else. “Really'
    expect(sentence(scoped({ project: name }))).toContain(
      "project “a, and everything else. 'Really”, and nothing else, as far as you may.",
    )
    const form = formWith({ ownerKind: 'user', owner: name })
    expect(sentence(form)).toContain("Acts as the user “a, and everything else. 'Really”.")
  })
})

describe('what is wrong', () => {
  const fields = (form: KeyForm) => problemsOf(form).map(({ field }) => field)
  test.each<[string, KeyForm, string[]]>([
    ['nothing', formWith({ name: 'ci' }), []],
    ['a name with capitals', formWith({ name: 'CI' }), ['name']],
    ['a missing owner', formWith({ ownerKind: 'user' }), ['owner']],
    ['a value as the name', formWith({ name: 'mpk_x' }), ['name']],
    ['a value as a text', formWith({ description: 'see mpk_x' }), ['description']],
    ['the hash of a commit in a text', formWith({ description: '0a'.repeat(20) }), []],
    ['a value in an entry', scoped({ project: 'a' }, { kind: 'role', where: `a/${'Ab1'.repeat(11)}` }), ['2.where']],
    ['a long resource', scoped({ kind: 'rule', resources: 'validatingadmissionpolicybindings' }), []],
    ['a missing lifetime', formWith({ lifetime: 'custom' }), ['count']],
    ['a lifetime that is no number', formWith({ lifetime: 'custom', count: '1.5' }), ['count']],
    ['a lifetime of 0', formWith({ lifetime: 'custom', count: '0' }), ['count']],
    ['the scope of a key without one', formWith({ isScoped: false, rows: [row(1, { project: 'mpk_x' })] }), []],
  ])('is found: %s', (_, form, found) => expect(fields(form)).toEqual(found))

  test('of a scope, for the server, is at a part of a row', () => {
    const name = fc.constantFrom('', 'a', '*', 'a*', 'a/b', 'a/*', '*/a', '/', 'a,b', ' ')
    const rows = fc.array(
      fc.record({
        kind: fc.constantFrom(
          'project' as const,
          'virtualCluster' as const,
          'space' as const,
          'cluster' as const,
          'role' as const,
        ),
        project: name,
        name,
        where: name,
        role: fc.constantFrom('agent', 'vcluster', 'platformCLI', 'runner'),
      }),
      { maxLength: 3 },
    )
    fc.assert(
      fc.property(rows, (some) => {
        const form = scoped(...some)
        const refused = validateScope(keyOf(form).spec.scope)
        for (const { field } of refused) expect(fieldOf(field, form)).toMatch(/^\d\.\w/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a refusal', () => {
  const form = scoped(
    { kind: 'cluster', name: 'west' },
    { project: 'a' },
    { kind: 'space', project: 'p', name: 's' },
    { project: 'b' },
  )
  test.each([
    ['metadata.name', 'name'],
    ['spec.user', 'owner'],
    ['spec.subject', 'owner'],
    ['spec.ttl', 'lifetime'],
    ['spec.ttlAfterLastActivity', 'lifetime'],
    ['spec.sourceCIDRs[2]', 'sources'],
    ['spec.scope', 'scope'],
    ['spec.scope.projects[0].project', '2.project'],
    ['spec.scope.projects[1].project', '4.project'],
    ['spec.scope.projects[2].project', 'scope'],
    ['spec.scope.spaces[0].space', '3.name'],
    ['spec.scope.clusters[0].cluster', '1.name'],
    ['spec.key', undefined],
    ['', undefined],
  ])('of %s belongs to the field %s', (path, field) => expect(fieldOf(path, form)).toBe(field))

  const refuse = (code: number, status: object) => refusedFields(new ApiError(code, status), form)
  test('names its fields', () => {
    const causes = [{ field: 'spec.ttl', message: 'too long' }]
    expect(refuse(422, { details: { causes } })).toEqual([{ field: 'lifetime', text: 'too long' }])
    expect(refuse(403, { message: 'forbidden: spec.user: only for others' })).toEqual([
      { field: 'owner', text: 'only for others' },
    ])
    expect(refuse(409, {})).toEqual([{ field: 'name', text: 'A key with this name exists already.' }])
  })

  test('that is not about fields alone is one of the whole request', () => {
    const causes = [{ field: 'spec.ttl', message: 'too long' }, { message: 'other' }]
    expect(refuse(422, { details: { causes } })).toEqual([])
    expect(refuse(403, { message: 'exceeded quota' })).toEqual([])
    expect(refusedFields(new Error('x'), form)).toEqual([])
  })
})

test('names are offered by project, and others are left out', () => {
  const of = (namespace: string, name: string) => ({ namespace, name })
  expect([...byProject([of('p-a', 'x'), of('p-b', 'y'), of('p-a', 'z'), of('default', 'w')], 'p-')]).toEqual([
    ['a', ['x', 'z']],
    ['b', ['y']],
  ])
})
