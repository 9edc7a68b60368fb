/** Checks the table of docs/scopes.md: every row's scope is valid, allows what the row says and denies what it says. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Attributes, Target } from '../../../lib/authorization/attributes/attributes.ts'
import { evaluate } from '../../../lib/authorization/scopes/evaluate.ts'
import { evaluateAt } from '../../../lib/authorization/scopes/place.ts'
import { ROLE_NAMES } from '../../../lib/authorization/scopes/roles.ts'
import { type Scope, scopeSchema } from '../../../lib/authorization/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../lib/authorization/scopes/space.ts'
import { validateScope } from '../../../lib/authorization/scopes/validatescope.ts'

const page = readFileSync(new URL('../../../docs/scopes.md', import.meta.url), 'utf8')

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `{'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, scope = '', allows = '', , refuses = '']) => ({
    text: codesIn(scope)[0] ?? '',
    allows: codesIn(allows),
    refuses: codesIn(refuses),
  }))

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
}

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

test('the table covers every role and every member of scopes and rules', () => {
  expect(rows.length).toBeGreaterThan(30)
  const scopes = rows.map(({ text }) => JSON.parse(text) as Scope)
  expect(new Set(scopes.flatMap(({ roles = [] }) => roles.map(({ role }) => role)))).toEqual(new Set(ROLE_NAMES))
  expect(new Set(scopes.flatMap(Object.keys))).toEqual(new Set(Object.keys(scopeSchema.properties)))
  const members = new Set(scopes.flatMap(({ rules = [] }) => rules.flatMap(Object.keys)))
  expect(members).toEqual(new Set(Object.keys(scopeSchema.properties.rules.items.properties)))
})

describe.each(rows)('$text', ({ text, allows, refuses }) => {
  const scope = JSON.parse(text) as Scope
  const options = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
  /** Evaluates each request at its target. */
  const judge = (request: string) => {
    const attributes = parse(request)
    const { target } = attributes
    return target.type === 'Cluster'
      ? evaluateAt([scope], { type: 'cluster', name: target.cluster }, attributes, options)
      : evaluate([scope], attributes, options)
  }

  test('is valid', () => {
    expect(validateScope(scope)).toEqual([])
    expect(allows.length + refuses.length).toBeGreaterThan(0)
  })

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
})
