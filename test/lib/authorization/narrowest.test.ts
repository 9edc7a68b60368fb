import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Attributes, managementRequest } from '../../../lib/authorization/attributes/attributes.ts'
import { forbiddenByScope, missingEntry } from '../../../lib/authorization/narrowest.ts'
import { evaluate } from '../../../lib/authorization/scopes/evaluate.ts'
import type { Scope } from '../../../lib/authorization/scopes/scope.ts'
import { validateScope } from '../../../lib/authorization/scopes/validatescope.ts'
import * as arbitrary from './arbitraries.ts'

const OPTIONS = { projectNamespacePrefix: 'p-' }
const group = 'management.platform'
const requestFor = (verb: string, resource: string, more: object = {}) =>
  managementRequest({ group, resource, verb, ...more })
const vci = 'virtualclusterinstances'
const at = { namespace: 'p-a', name: 'x' }
const metrics: Attributes = { kind: 'nonresource', target: { type: 'Management' }, verb: 'get', path: '/metrics' }
const path = (url: string) => ({ rules: [{ verbs: ['get'], nonResourceURLs: [url] }] })
const rule = (verb: string, more: object = {}) => ({
  rules: [{ verbs: [verb], resources: [{ group, resources: ['ownedaccesskeys'] }], ...more }],
})

/** Returns the parts of a user who presents the key `ci` with these scopes. */
const holder = (chain: Scope[]) => ({ chain, key: { name: 'ci', uid: '1', type: '' } })
const rotation = (name: string) => requestFor('create', 'ownedaccesskeys', { subresource: 'rotate', name })

describe('missingEntry', () => {
  test.each<[string, Attributes, Scope]>([
    ['an instance', requestFor('get', vci, at), { virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }],
    [
      'its kube config',
      requestFor('create', vci, { ...at, subresource: 'kubeconfig' }),
      { virtualClusters: [{ project: 'a', virtualCluster: 'x' }] },
    ],
    [
      'the instances of a project',
      requestFor('list', vci, { namespace: 'p-a' }),
      { roles: [{ role: 'platformCLI', projects: ['a'] }] },
    ],
    ['a change of an instance', requestFor('patch', vci, at), { projects: [{ project: 'a' }] }],
    ['the keys', requestFor('list', 'ownedaccesskeys'), rule('list')],
    ['a key', requestFor('delete', 'ownedaccesskeys', { name: 'k' }), rule('delete', { resourceNames: ['k'] })],
    ['a path', metrics, path('/metrics')],
    [
      'a review',
      managementRequest({ group: 'authentication.k8s.io', resource: 'tokenreviews', verb: 'create' }),
      { roles: [{ role: 'agent' }] },
    ],
  ])('for %s', (_, attributes, entry) => {
    expect(missingEntry(holder([{}]), attributes, OPTIONS)).toEqual(entry)
    expect(missingEntry(holder([{ projects: [{ project: '*' }], rules: [{}] }, {}]), attributes, OPTIONS)).toEqual(
      entry,
    )
  })

  test('returns the role selfRotate only for a rotation of the presented key', () => {
    const named = (name: string) => ({
      rules: [
        { verbs: ['create'], resources: [{ group, resources: ['ownedaccesskeys/rotate'] }], resourceNames: [name] },
      ],
    })
    expect(missingEntry(holder([{}]), rotation('ci'), OPTIONS)).toEqual({ roles: [{ role: 'selfRotate' }] })
    expect(missingEntry(holder([{}]), rotation('cd'), OPTIONS)).toEqual(named('cd'))
    const get = requestFor('get', 'ownedaccesskeys', { name: 'ci' })
    expect(missingEntry(holder([{}]), get, OPTIONS)).toEqual(rule('get', { resourceNames: ['ci'] }))
  })

  test('returns undefined when two scopes of the chain deny the request', () => {
    expect(
      missingEntry(holder([{}, { projects: [{ project: 'b' }] }]), requestFor('list', 'ownedaccesskeys'), OPTIONS),
    ).toBeUndefined()
  })

  test('returns a valid scope that allows the request', () => {
    fc.assert(
      fc.property(arbitrary.scope, arbitrary.attributes, (scope, attributes) => {
        if (evaluate([scope], attributes, OPTIONS).allowed) return
        const entry = missingEntry(holder([scope]), attributes, OPTIONS)
        if (entry === undefined) return
        expect(evaluate([entry], attributes, OPTIONS).allowed).toBe(true)
        if (attributes.verb !== '*' || attributes.kind === 'resource') expect(validateScope(entry)).toEqual([])
      }),
      { numRuns: 5000, seed: 12 },
    )
  })
})

test('forbiddenByScope starts with the Kubernetes message and ends with the reason', () => {
  const attributes = requestFor('list', vci, { namespace: 'p-a' })
  const decision = evaluate([{}], attributes, OPTIONS)
  const { status } = forbiddenByScope(attributes, { name: 'alice', ...holder([{}]) }, decision.reason, OPTIONS)
  expect(status.message).toBe(
    'virtualclusterinstances.management.platform is forbidden: User "alice" cannot list resource "virtualclusterinstances" in API group "management.platform" in the namespace "p-a": spec.scope does not allow list of virtualclusterinstances in project "a"; {"roles":[{"role":"platformCLI","projects":["a"]}]} in this scope would allow it',
  )
})
