import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attributes, ResourceAttributes } from '../../../../lib/access/attributes/attributes.ts'
import { evaluate, evaluateAny } from '../../../../lib/access/scopes/evaluate.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { isView, VIEW } from '../../../../lib/access/scopes/view.ts'
import { runs } from '../../../support/effort.ts'
import * as arbitrary from '../arbitraries.ts'
import { plainlyAllowed } from '../plainevaluator.ts'

const OPTIONS = { projectNamespacePrefix: 'p-' }
const RUNS = runs(3000)
const judge = (chain: Scope[], request: Attributes) => evaluate(chain, request, OPTIONS)

const instance = (more: Partial<ResourceAttributes> = {}): Attributes => ({
  kind: 'resource',
  target: { type: 'Management' },
  verb: 'get',
  group: 'management.platform',
  resource: 'virtualclusterinstances',
  subresource: '',
  name: 'x',
  namespace: 'p-a',
  ...more,
})

describe('properties', () => {
  // threat: authorizer-7
  test('hold: both evaluators agree', () => {
    fc.assert(
      fc.property(fc.array(arbitrary.scope, { maxLength: 3 }), arbitrary.attributes, (chain, request) => {
        expect(judge(chain, request).allowed).toBe(plainlyAllowed(chain, request))
      }),
      runs(20_000),
    )
  })

  // threat: authorizer-7
  test('hold: an additional scope never allows more', () => {
    fc.assert(
      fc.property(
        fc.array(arbitrary.scope, { maxLength: 2 }),
        arbitrary.scope,
        arbitrary.attributes,
        (chain, more, request) => {
          const longer = judge([...chain, more], request)
          if (longer.allowed) {
            const shorter = judge(chain, request)
            expect(shorter.allowed).toBe(true)
            if (shorter.allowed && shorter.own) expect(longer.own).toBe(true)
            if (shorter.allowed && shorter.self) expect(longer.self).toBe(true)
          }
        },
      ),
      RUNS,
    )
  })

  test('hold: an additional list entry never allows less, except for the role view', () => {
    const entry = fc
      .oneof(
        ...Object.entries(arbitrary.entries).map(([list, one]) =>
          (one as fc.Arbitrary<object>).map((value) => ({ list: list as keyof typeof arbitrary.entries, value })),
        ),
      )
      .filter(({ list, value }) => list !== 'roles' || !isView(value))
    fc.assert(
      fc.property(arbitrary.scope, entry, arbitrary.attributes, (scope, { list, value }, request) => {
        const before = judge([scope], request)
        const after = judge([{ ...scope, [list]: [...(scope[list] ?? []), value] }], request)
        if (before.allowed) {
          expect(after.allowed).toBe(true)
          if (!before.own) expect(after).not.toHaveProperty('own')
          if (!before.self) expect(after).not.toHaveProperty('self')
        }
      }),
      RUNS,
    )
  })

  test('hold: the role view never allows more', () => {
    fc.assert(
      fc.property(arbitrary.scope, arbitrary.attributes, (scope, request) => {
        const { roles = [] } = scope
        if (judge([{ ...scope, roles: [...roles, { role: VIEW }] }], request).allowed)
          expect(judge([scope], request).allowed).toBe(true)
      }),
      RUNS,
    )
  })

  test('hold: an empty chain or rule allows everything, an empty scope only what every scope allows', () => {
    fc.assert(
      fc.property(arbitrary.attributes, (request) => {
        expect(judge([], request)).toEqual({ allowed: true, reason: 'no scope' })
        expect(judge([{ rules: [{}] }], request).allowed).toBe(true)
        const empty = judge([{}], request)
        expect(empty.allowed ? empty.reason : 'every scope').toBe('every scope')
      }),
      RUNS,
    )
  })
})

describe('reasons', () => {
  test('name the line that allows a request', () => {
    expect(judge([{ projects: [{ project: 'b' }, { project: 'a' }] }], instance())).toEqual({
      allowed: true,
      reason: 'spec.scope.projects[1]',
    })
    expect(judge([{ allowPlatformCli: true }], instance())).toEqual({
      allowed: true,
      reason: 'spec.scope.allowPlatformCli',
    })
  })

  test('name the line of each scope in a chain', () => {
    const chain = [{ projects: [{ project: 'a' }] }, { rules: [{ verbs: ['list'] }, { verbs: ['get'] }] }]
    expect(judge(chain, instance())).toEqual({
      allowed: true,
      reason: 'chain[0].spec.scope.projects[0], chain[1].spec.scope.rules[1]',
    })
  })

  test('name the scope and the missing permission of a denied request', () => {
    const chain = [{ projects: [{ project: 'a' }] }, {}]
    expect(judge(chain, instance({ subresource: 'status' }))).toEqual({
      allowed: false,
      reason: 'chain[1].spec.scope does not allow get of virtualclusterinstances/status "x" in project "a"',
    })
    expect(
      judge([{}], { kind: 'nonresource', target: { type: 'Cluster', cluster: 'c' }, verb: 'get', path: '/m' }),
    ).toEqual({ allowed: false, reason: 'spec.scope does not allow get of path "/m" in cluster "c"' })
  })
})

describe('edge cases', () => {
  test('platformCLI reads only own keys, unless another line is unrestricted', () => {
    const keys = instance({ resource: 'ownedaccesskeys', namespace: '', name: '', verb: 'list' })
    expect(judge([{ roles: [{ role: 'platformCLI' }] }], keys)).toEqual({
      allowed: true,
      reason: 'spec.scope.roles[0]',
      own: true,
    })
    expect(judge([{ roles: [{ role: 'platformCLI' }], rules: [{}] }], keys)).toEqual({
      allowed: true,
      reason: 'spec.scope.rules[0]',
    })
    expect(judge([{ rules: [{}] }, { allowPlatformCli: true }], keys)).toMatchObject({ own: true })
  })

  test('selfRotate reads and rotates only the presented key, unless another line is wider', () => {
    const key = instance({ resource: 'ownedaccesskeys', namespace: '', name: 'ci' })
    const scope = { roles: [{ role: 'selfRotate' }] }
    const rotation = { ...key, verb: 'create', subresource: 'rotate' }
    const self = { allowed: true, reason: 'spec.scope.roles[0]', own: true, self: true }
    expect([judge([scope], key), judge([scope], rotation)]).toEqual([self, self])
    const others = [
      { verb: 'list' },
      { verb: 'patch' },
      { verb: 'get', subresource: 'status' },
      { verb: 'create' },
      { verb: '*', subresource: 'rotate' },
      { target: { type: 'Cluster', cluster: 'c' } },
    ] as const
    for (const other of others) expect(judge([scope], { ...key, ...other }).allowed).toBe(false)
    const wider = { roles: [{ role: 'selfRotate' }, { role: 'platformCLI' }] }
    expect(judge([wider], key)).toEqual({ allowed: true, reason: 'spec.scope.roles[1]', own: true })
    expect(judge([{ rules: [{}] }, scope], key)).toMatchObject({ own: true, self: true })
    expect(judge([wider, scope], key)).toMatchObject({ own: true, self: true })
    expect(judge([{ roles: [{ role: 'selfRotate', projects: ['a'] }] }], rotation).allowed).toBe(false)
  })

  test('the wider of two interpretations of a request applies', () => {
    const keys = instance({ resource: 'ownedaccesskeys', namespace: '', name: '', verb: 'list' })
    const scope = { roles: [{ role: 'platformCLI' }], spaces: [{ project: 'a', space: 's' }] }
    const inSpace = { ...keys, target: { type: 'ProjectSpace', project: 'a', space: 's' } } as const
    expect(evaluateAny([scope], [keys], OPTIONS)).toMatchObject({ own: true })
    expect(evaluateAny([scope], [keys, inSpace], OPTIONS)).toEqual({ allowed: true, reason: 'spec.scope.spaces[0]' })
  })

  test('a request for all namespaces does not match the empty namespace of a rule', () => {
    const scope = { rules: [{ namespaces: [''] }] }
    const all = instance({ namespace: '', name: '', verb: 'list', allNamespaces: true })
    expect(judge([scope], all).allowed).toBe(false)
    expect(judge([scope], instance({ resource: 'ownedaccesskeys', namespace: '' })).allowed).toBe(true)
  })

  test('an unknown role allows nothing and removes nothing', () => {
    for (const role of ['', 'admin', 'constructor', '__proto__', 'toString']) {
      expect(judge([{ roles: [{ role }] }], instance()).allowed).toBe(false)
      expect(judge([{ roles: [{ role }], projects: [{ project: 'a' }] }], instance()).allowed).toBe(true)
    }
  })

  test('a project does not match another project with that prefix', () => {
    expect(judge([{ projects: [{ project: 'a' }] }], instance({ namespace: 'p-ab' })).allowed).toBe(false)
    expect(judge([{ projects: [{ project: '*' }] }], instance({ namespace: 'p-' })).allowed).toBe(false)
  })
})
