/**
 * Tests that self reviews agree with the requests themselves, for random scopes and every request that this API serves.
 * An allowed request never returns 403 or a 404 that hides an object; a denied one always does.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateScope } from '../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/authorization/arbitraries.ts'
import { type AskedRequest, askedRequests, makeObjects } from '../support/askedrequests.ts'
import { apiVersion, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 60, unthrottled: true })
  await makeObjects(server)
}, 120_000)
afterAll(() => server?.stop())

/** Reports whether the review allows the request and whether the request passes. */
async function judgeRequest(
  token: string,
  { resourceAttributes, nonResourceAttributes, method, path, body, type }: AskedRequest,
) {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: {
      ...(resourceAttributes && { resourceAttributes }),
      ...(nonResourceAttributes && { nonResourceAttributes }),
    },
  }
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const [said, met] = await Promise.all([
    server.call(reviews, { method: 'POST', token, body: review }),
    server.call(path, { method, token, body, ...(type && { headers: { 'content-type': type } }) }),
  ])
  const { allowed, reason } = said.json.status
  return { allowed, reason, status: met.status, message: met.json?.message ?? met.text.slice(0, 200) }
}

const deniedCodes = [403, 404]

async function disagreements(spec: object): Promise<string[]> {
  const answer = await server.call(keys, {
    method: 'POST',
    body: { apiVersion, kind: 'OwnedAccessKey', metadata: { generateName: 'k-' }, spec },
  })
  expect(answer.status, answer.text).toBe(201)
  const token: string = answer.json.spec.key
  const found: string[] = []
  for (const asked of askedRequests) {
    const { allowed, reason, status, message } = await judgeRequest(token, asked)
    expect(status, message).not.toBe(401)
    expect(status, message).toBeLessThan(500)
    // A missing object returns 404 to every user whose scope allows the request.
    const agrees = allowed === !deniedCodes.includes(status) || (status === 404 && asked.nothing === true)
    if (!agrees) found.push(`${allowed} (${reason}) but ${status} (${message}): ${JSON.stringify(asked)}`)
  }
  return found
}

test.each([
  [{ user: 'alice', scope: { rules: [{ namespaces: [''] }] } }],
  [{ user: 'alice', scope: { rules: [{ nonResourceURLs: ['/metrics'] }] } }],
  [{ user: 'alice', scope: {} }],
  [{ user: 'alice' }],
  [{ user: 'root', groups: ['system:masters'] }],
  [{ user: 'alice', scope: { projects: [{ project: 'a' }] } }],
  [{ user: 'root', groups: ['system:masters'], scope: { roles: [{ role: 'platformCLI' }] } }],
])('the two reviews agree on %j', async (spec) => {
  expect(await disagreements(spec)).toEqual([])
})

test('the two reviews agree on any scope', async () => {
  const valid = anyScope.filter((scope) => Object.keys(scope).length > 0 && validateScope(scope).length === 0)
  const users = [{ user: 'alice' }, { user: 'root', groups: ['system:masters'] }]
  for (const [index, scope] of fc.sample(valid, { numRuns: 12, seed: 12 }).entries()) {
    expect(await disagreements({ ...users[index % 2], scope }), JSON.stringify(scope)).toEqual([])
  }
}, 240_000)

test('the reviews expect paths below the base path, and deny no request that no scope restricts', async () => {
  const get = async (scope: object, path: string) => {
    const { spec } = await server.make(keys, {
      apiVersion,
      kind: 'OwnedAccessKey',
      metadata: { generateName: 'k-' },
      spec: { user: 'alice', scope },
    })
    return (await server.call(path, { token: spec.key })).status
  }
  expect(await get({ rules: [{ nonResourceURLs: ['/metrics'] }] }, '/metrics')).toBe(404)
  expect(await get({ rules: [{ nonResourceURLs: ['/metrics'] }] }, '/logs')).toBe(403)
  expect(await get({}, '/apis/nobody.example')).toBe(404)
  expect(await get({}, '/apis/management.platform/v2')).toBe(404)
})
