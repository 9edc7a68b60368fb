/** Tests access reviews of keys through the gateway: what they say, and for which clusters. reviewsagree.test.ts compares them with requests. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { hasSelfRotate } from '../../lib/access/scopes/roles.ts'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import { validateScope } from '../../lib/access/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/access/arbitraries.ts'
import { makeObjects } from '../support/askedrequests.ts'
import { runs } from '../support/effort.ts'
import { instances, keys } from '../support/objects.ts'
import { messageOf, saying } from '../support/refusals.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

interface Step {
  check: string
  allowed?: boolean
  reason: string
  entry?: Scope
}

const server = useServer()
const group = 'management.platform'
const vci = 'virtualclusterinstances'

const key = (spec: object, token?: string) => server.makeKey(spec, {}, token)

const patch = ({ name }: MadeKey, spec: object) => server.patch(`${keys}/${name}`, { spec })

const review = ({ name }: Pick<MadeKey, 'name'>, spec: object, token?: string): Promise<Answer> =>
  server.call(`${keys}/${name}/accessreview`, { method: 'POST', body: { spec }, ...(token !== undefined && { token }) })

const stepsOf = (json: Answer['json']): Record<string, Step> =>
  Object.fromEntries(json.status.steps.map((step: Step) => [step.check, step]))

beforeAll(() => makeObjects(server))

describe('an access review', () => {
  test('returns every step, also those after the first that refuses', async () => {
    const holder = await key({
      user: 'alice',
      disabled: true,
      sourceCIDRs: ['203.0.113.0/24'],
      scope: { projects: [{ project: 'x' }] },
    })
    const resourceAttributes = { verb: 'get', group, resource: vci, namespace: 'p-b', name: 'b' }
    const { json } = await review(holder, { resourceAttributes, sourceIP: '198.51.100.1' })
    const scope = 'spec.scope does not allow get of virtualclusterinstances "b" in project "b"'
    const resources = [{ group, resources: [vci], resourceNames: ['b'] }]
    const rule = { verbs: ['get'], resources, namespaces: ['p-b'], requestTargets: ['Management'] }
    const source = `access key "${holder.name}" may not be used from 198.51.100.1`
    expect(json.status).toEqual({
      allowed: false,
      reason: 'access key is disabled',
      steps: [
        { check: 'life', allowed: false, reason: 'access key is disabled' },
        { check: 'source', allowed: false, reason: source },
        { check: 'scope', allowed: false, entry: { rules: [rule] }, reason: scope },
        { check: 'rights', allowed: false, reason: 'not visible to this user' },
      ],
    })
    expect(json.metadata).toMatchObject({ name: holder.name, uid: holder.uid })
  })

  test('does not check source addresses without spec.sourceIP', async () => {
    const holder = await key({ user: 'alice', sourceCIDRs: ['203.0.113.0/24'] })
    const { json } = await review(holder, { resourceAttributes: { verb: 'list', group, resource: 'ownedaccesskeys' } })
    expect(json.status.allowed).toBe(true)
    const { source } = stepsOf(json)
    expect(source).toEqual({
      check: 'source',
      reason: 'not checked without spec.sourceIP: the access key is limited to 203.0.113.0/24',
    })
  })

  test('says that nobody can change an inherited scope', async () => {
    const maker = await key({ user: 'alice', scope: { rules: [{ verbs: ['create'] }] } })
    const child = await key({ user: 'alice' }, maker.token)
    const narrowed = await key({ user: 'alice', scope: { rules: [{ verbs: ['get'] }] } }, maker.token)
    const listing = { resourceAttributes: { verb: 'list', group, resource: 'ownedaccesskeys' } }
    const creating = { resourceAttributes: { verb: 'create', group, resource: 'ownedaccesskeys' } }
    const inherited = '; the access key inherited this scope, so nobody can change it'
    expect(stepsOf((await review(child, listing)).json).scope?.reason).toBe(
      `spec.scope does not allow list of ownedaccesskeys${inherited}`,
    )
    expect(stepsOf((await review(narrowed, listing)).json).scope?.reason).toBe(
      `chain[0].spec.scope does not allow list of ownedaccesskeys${inherited}`,
    )
    expect(stepsOf((await review(narrowed, creating)).json).scope?.reason).toBe(
      'chain[1].spec.scope does not allow create of ownedaccesskeys',
    )
  })

  test('names the entry with which the key is allowed the request', async () => {
    const holder = await key({ user: 'alice', scope: { projects: [{ project: 'x' }] } })
    const spec = { resourceAttributes: { verb: 'get', group, resource: vci, namespace: 'p-a', name: 'a' } }
    const { entry } = stepsOf((await review(holder, spec)).json).scope ?? {}
    await patch(holder, { scope: { projects: [{ project: 'x' }], ...entry } })
    expect((await review(holder, spec)).json.status).toMatchObject({ allowed: true })
    expect((await server.call(`${instances('p-a')}/a`, { token: holder.token })).status).toBe(200)
  })

  test('is not a use of the key', async () => {
    const holder = await key({ user: 'alice' })
    await review(holder, { nonResourceAttributes: { verb: 'get', path: '/metrics' } })
    expect((await server.call(`${keys}/${holder.name}`)).json.status).not.toHaveProperty('lastActivity')
  })
})

describe('an access review for a target', () => {
  const cluster = { cluster: 'a' }
  const virtualCluster = { virtualCluster: { project: 'a', name: 'a' } }
  const space = { space: { project: 'a', name: 's' } }
  const namespaceOfSpace = 'p-a-s-s'
  const anywhere = 'nowhere'

  /** Returns what the cluster is told by the SubjectAccessReview that it sends. */
  async function told(agent: MadeKey, holder: MadeKey, chain: readonly Scope[], place: string, spec: object) {
    const extra = {
      'management.platform/access-key': [holder.name],
      'management.platform/access-key-uid': [holder.uid],
      'management.platform/scopes': [JSON.stringify(chain)],
      'management.platform/target': [place],
    }
    const { json } = await server.post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: { user: 'alice', extra, ...spec } },
      agent.token,
    )
    return json.status.denied !== true
  }

  // threat: users-16
  test('says whether the SubjectAccessReview of the cluster denies the request, for random scopes', async () => {
    const agent = await key({
      user: 'agent',
      scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'a' }, { cluster: anywhere }] },
    })
    const vcluster = await key({ user: 'v', scope: { roles: [{ role: 'vcluster', virtualClusters: ['a/a'] }] } })
    const { uid } = (await server.call(`${instances('p-a')}/a`)).json.metadata
    const places = [
      { target: cluster, ask: { agent, place: 'clusters/a' } },
      { target: virtualCluster, ask: { agent: vcluster, place: `virtualclusters/p-a/a/${uid}` } },
      { target: space, ask: { agent, place: `clusters/${anywhere}` } },
    ]
    const asks = [
      { resource: 'pods', verb: 'list', namespace: 'default' },
      { resource: 'pods', verb: 'get', namespace: namespaceOfSpace, name: 'p' },
      { resource: 'namespaces', verb: 'get', namespace: namespaceOfSpace, name: namespaceOfSpace },
      { resource: 'nodes', verb: 'list', namespace: '' },
    ]
    const valid = anyScope.filter((scope) => validateScope(scope).length === 0 && !hasSelfRotate(scope))
    const answers = new Set<string>()
    for (const scope of [{}, { rules: [{}] }, ...fc.sample(valid, runs(30))]) {
      const holder = await key({ user: 'alice', scope })
      for (const { target, ask } of places) {
        for (const resourceAttributes of asks) {
          if (target === space && resourceAttributes.namespace !== namespaceOfSpace) continue
          const { json } = await review(holder, { target, resourceAttributes })
          const isAllowed = await told(ask.agent, holder, [scope], ask.place, { resourceAttributes })
          const { allowed } = json.status
          expect([scope, target, resourceAttributes, allowed]).toEqual([scope, target, resourceAttributes, isAllowed])
          const { rights } = stepsOf(json)
          expect(rights).toEqual({ check: 'rights', reason: 'the cluster decides by its own RBAC' })
          answers.add(`${Object.keys(target)} ${allowed}`)
        }
      }
    }
    expect(answers.size).toBe(6)
  })

  test('fills in the namespace of a space', async () => {
    const holder = await key({ user: 'alice', scope: { spaces: [{ project: 'a', space: 's' }] } })
    const { json } = await review(holder, { target: space, resourceAttributes: { verb: 'list', resource: 'pods' } })
    expect(json.status).toMatchObject({ allowed: true })
    const elsewhere = { space: { project: 'a', name: 't' } }
    const refused = await review(holder, { target: elsewhere, resourceAttributes: { verb: 'list', resource: 'pods' } })
    const resources = [{ resources: ['pods'] }]
    const rule = { verbs: ['list'], resources, namespaces: ['p-a-s-t'], requestTargets: ['ProjectSpace'] }
    const reason = 'spec.scope does not allow list of pods in namespace "p-a-s-t" in space "a/t"'
    expect(stepsOf(refused.json).scope).toEqual({ check: 'scope', allowed: false, entry: { rules: [rule] }, reason })
  })
})

describe('an access review is a 422', () => {
  const asked = { resourceAttributes: { verb: 'list', resource: 'pods' } }
  const path = { nonResourceAttributes: { verb: 'get', path: '/' } }
  const space = { project: 'a', name: 's' }
  const elsewhere = { resourceAttributes: { ...asked.resourceAttributes, namespace: 'p-a-s-t' } }
  const oneTarget = 'exactly one of cluster, virtualCluster and space'
  const ambiguous = 'must be the names of a project and a space'
  const noProject = 'spec.target.virtualCluster.project: Required'
  const other = 'must be empty or the namespace of the space, p-a-s-s'

  test.each<[string, object, string]>([
    ['without a request', {}, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    ['with two requests', { ...asked, ...path }, 'cannot be specified in'],
    ['without a verb', { resourceAttributes: { resource: 'pods' } }, 'spec.resourceAttributes.verb: Required'],
    ['without a resource', { resourceAttributes: { verb: 'get' } }, 'spec.resourceAttributes.resource: Required'],
    ['without a path', { nonResourceAttributes: { verb: 'get' } }, 'spec.nonResourceAttributes.path: Required'],
    ['with an empty target', { ...asked, target: {} }, oneTarget],
    ['with two targets', { ...asked, target: { cluster: 'a', space } }, oneTarget],
    ['with a path as the cluster', { ...asked, target: { cluster: '../a' } }, 'spec.target.cluster: Invalid'],
    ['with an empty cluster', { ...asked, target: { cluster: '' } }, 'spec.target.cluster: Required'],
    ['without the project of a virtual cluster', { ...asked, target: { virtualCluster: { name: 'a' } } }, noProject],
    ['with an ambiguous space', { ...asked, target: { space: { ...space, name: 's-s-s' } } }, ambiguous],
    ['with the namespace of another space', { ...elsewhere, target: { space } }, other],
    ['with a path in a space', { ...path, target: { space } }, 'a space has no paths'],
    ['with a source that is no address', { ...asked, sourceIP: 'localhost' }, 'spec.sourceIP: Invalid value'],
  ])('%s', async (_, spec, text) => expect(messageOf(await review({ name: 'a' }, spec))).toEqual(saying(422, text)))

  test('with the name of another key', async () =>
    expect(messageOf(await server.post(`${keys}/a/accessreview`, { metadata: { name: 'b' }, spec: asked }))).toEqual(
      saying(422, 'must match the access key name'),
    ))
})
