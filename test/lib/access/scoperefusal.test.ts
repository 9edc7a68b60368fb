import { describe, expect, test } from 'vitest'
import { managementRequest } from '../../../lib/access/attributes/attributes.ts'
import { refuseByScope } from '../../../lib/access/scoperefusal.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'

const options = { projectNamespacePrefix: 'p-' }
const group = 'management.platform'
const vci = 'virtualclusterinstances'

/** Refuses the request of the key `ci` with these scopes. */
function refuse(chain: Scope[], more: object) {
  const attributes = managementRequest({ group, plural: vci }, { verb: 'list', ...more })
  const decision = evaluate(chain, attributes, options)
  if (decision.allowed) throw new Error('the chain allows the request')
  const user = { name: 'alice', chain, key: { name: 'ci', uid: '1', type: '' } }
  const { reason, error } = refuseByScope(attributes, user, decision, options)
  return { ...error.status, reason }
}

const exact = (name: string) => ({
  rules: [
    { verbs: ['list'], resources: [{ group, resources: [vci] }], namespaces: [name], requestTargets: ['Management'] },
  ],
})

describe('refuseByScope', () => {
  test('names no entry for the review of a key that the scopes do not allow to get', () => {
    const review = { verb: 'create', resource: 'ownedaccesskeys', subresource: 'accessreview', name: 'ci' }
    const get = { verbs: ['get'], resources: [{ group, resources: ['ownedaccesskeys'] }] }
    expect(refuse([{}], review).details).not.toHaveProperty('causes')
    expect(refuse([{ rules: [get] }], review).details?.causes).toHaveLength(1)
  })

  test('returns the Kubernetes message, which ends in the reason, and the entries as causes', () => {
    const { reason, message, details } = refuse([{}], { namespace: 'p-a' })
    expect(reason).toBe('spec.scope does not allow list of virtualclusterinstances in project "a"')
    expect(message).toBe(
      `virtualclusterinstances.management.platform is forbidden: User "alice" cannot list resource "virtualclusterinstances" in API group "management.platform" in the namespace "p-a": ${reason}`,
    )
    const cause = { reason: 'ScopeMissing', field: 'spec.scope' }
    const broader = { roles: [{ role: 'platformCLI', projects: ['a'] }] }
    expect(details).toEqual({
      group,
      kind: vci,
      causes: [
        { ...cause, message: `${JSON.stringify(exact('p-a'))} would allow it` },
        {
          ...cause,
          message: `${JSON.stringify(broader)} would allow it, and reading all virtual cluster instances of this project`,
        },
      ],
    })
  })

  test('says which scope of a chain refuses, and who can change it', () => {
    const all = { rules: [{}] }
    const request = 'list of virtualclusterinstances in project "a"'
    const inherited = refuse([{}, all], { namespace: 'p-a' })
    expect(inherited.reason).toBe(
      `chain[0].spec.scope does not allow ${request}; the access key inherited this scope, so nobody can change it`,
    )
    expect(inherited.details?.causes?.[0]?.message).toBe(
      `${JSON.stringify(exact('p-a'))} would allow it in chain[0].spec.scope`,
    )
    expect(refuse([all, {}], { namespace: 'p-a' }).reason).toBe(
      `chain[1].spec.scope does not allow ${request}; only another access key can change this scope, and only if it is not inherited`,
    )
  })

  test('returns no causes when several scopes refuse', () => {
    const { reason, details } = refuse([{}, { projects: [{ project: 'b' }] }], { namespace: 'p-a' })
    expect(reason).toMatch(/^chain\[0\]\.spec\.scope does not allow /)
    expect(details).toEqual({ group, kind: vci })
  })

  test.each([
    [40, 2],
    [250, 1],
    [400, 0],
  ])('keeps the causes for a name of %i characters within 600 bytes', (length, count) => {
    const { details } = refuse([{}], { verb: 'get', namespace: 'p-a', name: 'x'.repeat(length) })
    const { causes = [] } = details ?? {}
    expect(causes).toHaveLength(count)
    expect(Buffer.byteLength(JSON.stringify(causes))).toBeLessThanOrEqual(600)
  })

  // In a namespace without a project, the broader entry does not have the name.
  test.each(['p-a', 'default'])('returns no causes for a name that looks like an access key, in %s', (namespace) => {
    const { details, message } = refuse([{}], { verb: 'get', namespace, name: `mpk_${'0'.repeat(49)}` })
    expect(details?.causes).toBeUndefined()
    expect(message).not.toContain('mpk_0000')
  })
})
