/**
 * Plays a table of scopes: every scope is valid, allows what its row says and denies what it says. `vci` are virtual cluster instances.
 * The entries of docs/scopes.md are valid, and name every role and member.
 */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import type { Attributes, Target } from '../../../lib/access/attributes/attributes.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import { evaluateAt } from '../../../lib/access/scopes/place.ts'
import { ROLE_NAMES } from '../../../lib/access/scopes/roles.ts'
import { type Scope, scopeSchema } from '../../../lib/access/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../lib/access/scopes/space.ts'
import { validateScope } from '../../../lib/access/scopes/validatescope.ts'
import rows from './vectors/scopes.cases.json' with { type: 'json' }

const page = readFileSync(new URL('../../../docs/scopes.md', import.meta.url), 'utf8')

/** The scopes of the page, whose entries are YAML. */
const documented = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, entry = '']) => load(entry) as Scope)

const GROUPS: Record<string, string> = {
  virtualclusterinstances: 'management.platform',
  ownedaccesskeys: 'management.platform',
  accesskeyrevocations: 'management.platform',
  accesskeylookups: 'management.platform',
  clusters: 'management.platform',
  identityproviders: 'management.platform',
  federatedidentitycredentials: 'management.platform',
  selves: 'management.platform',
  directclusterendpointtokens: 'management.platform',
  selfsubjectreviews: 'authentication.k8s.io',
  tokenreviews: 'authentication.k8s.io',
  selfsubjectaccessreviews: 'authorization.k8s.io',
  selfsubjectrulesreviews: 'authorization.k8s.io',
  subjectaccessreviews: 'authorization.k8s.io',
  customresourcedefinitions: 'apiextensions.k8s.io',
  pods: '',
  nodes: '',
  secrets: '',
  '*': '',
  namespaces: '',
}

/** A cluster that no scope in the table names. */
const ELSEWHERE = 'elsewhere'

/** `cluster c: get pods/log s/p` → attributes; those of `space a/s: get pods/log p` are in the namespace of the space. */
function parse(text: string): Attributes {
  const [, type, place = '', rest = ''] = /^(?:(cluster|space|vc) (\S+): )?(.+)$/.exec(text) ?? []
  const [project = '', name = ''] = place.split('/')
  const targets: Record<string, Target> = {
    cluster: { type: 'Cluster', cluster: place },
    space: { type: 'Cluster', cluster: ELSEWHERE },
    vc: { type: 'ProjectVirtualCluster', project, virtualCluster: name },
  }
  const target: Target = (type && targets[type]) || { type: 'Management' }
  const [verb = '', what = '', where = ''] = rest.split(' ')
  if (what.startsWith('/')) return { kind: 'nonresource', target, verb, path: what }
  const [resource = '', subresource = ''] = what.replace(/^vci\b/, 'virtualclusterinstances').split('/')
  const group = GROUPS[resource]
  if (group === undefined) throw new Error(`unknown resource ${resource}`)
  const within = type === 'space' ? `p-${project}-s-${name}/${where}` : where
  const [namespace = '', object = ''] = within.includes('/') ? within.split('/') : ['', within]
  const all = namespace === '*'
  return {
    kind: 'resource',
    target,
    verb,
    group,
    resource,
    subresource,
    name: object,
    namespace: all ? '' : namespace,
    ...(all && { allNamespaces: true as const }),
  }
}

describe.each([
  ['the table', rows.map(({ scope }) => scope as Scope)],
  ['docs/scopes.md', documented],
])('%s', (_, scopes) => {
  test('has every role and every member of scopes and rules', () => {
    expect(scopes.length).toBeGreaterThan(15)
    expect(new Set(scopes.flatMap(({ roles = [] }) => roles.map(({ role }) => role)))).toEqual(new Set(ROLE_NAMES))
    expect(new Set(scopes.flatMap(Object.keys))).toEqual(new Set(Object.keys(scopeSchema.properties)))
    const members = new Set(scopes.flatMap(({ rules = [] }) => rules.flatMap(Object.keys)))
    expect(members).toEqual(new Set(Object.keys(scopeSchema.properties.rules.items.properties)))
  })

  test('has valid scopes', () => expect(scopes.flatMap((scope) => validateScope(scope))).toEqual([]))
})

describe.each(rows.map((row) => ({ ...row, text: JSON.stringify(row.scope) })))(
  '$text',
  ({ scope: written, allows, refuses }) => {
    const scope = written as Scope
    const options = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
    /** Evaluates each request at its target. */
    const judge = (request: string) => {
      const attributes = parse(request)
      const { target } = attributes
      return target.type === 'Cluster'
        ? evaluateAt([scope], { type: 'cluster', name: target.cluster }, attributes, options)
        : evaluate([scope], attributes, options)
    }

    test('allows or refuses something', () => expect(allows.length + refuses.length).toBeGreaterThan(0))

    // threat: authorizer-9
    test.each(allows.map((request) => [request]))('allows %s', (request) => {
      const [, limit] = /^(own|self): /.exec(request) ?? []
      const decision = judge(request.replace(/^(own|self): /, ''))
      expect(decision).toMatchObject({ allowed: true })
      expect(['own' in decision, 'self' in decision]).toEqual([limit !== undefined, limit === 'self'])
    })

    // threat: authorizer-9
    test.each(refuses.map((request) => [request]))('refuses %s', (request) => {
      expect(judge(request)).toMatchObject({ allowed: false })
    })
  },
)
