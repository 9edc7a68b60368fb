/**
 * Tests that a self review, an access review of the key and the request itself agree, for keys in every state, random scopes
 * and every request that this API serves. An allowed request never returns 403 or a 404 that hides an object; a denied one
 * always does.
 */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { hasSelfRotate } from '../../lib/access/scopes/roles.ts'
import { validateScope } from '../../lib/access/scopes/validatescope.ts'
import { NO_RIGHT } from '../../lib/access/users/reviewright.ts'
import { scope as anyScope } from '../lib/access/arbitraries.ts'
import { type AskedRequest, askedRequests, makeObjects } from '../support/askedrequests.ts'
import { runs } from '../support/effort.ts'
import { keys } from '../support/objects.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(() => makeObjects(server))

const post: typeof server.post = (...of) => server.post(...of)
const key = (spec: object, token?: string, metadata?: object) => server.makeKey(spec, metadata, token)

const all = { user: 'root', groups: ['system:masters'] }

/** Returns keys of several users, in every state, with random scopes, own and inherited. */
async function makeHolders(): Promise<MadeKey[]> {
  const expired = await key({ user: 'alice', ttl: 1 })
  const valid = anyScope.filter((scope) => validateScope(scope).length === 0 && !hasSelfRotate(scope))
  const scopes = fc.sample(valid, { ...runs(16), numRuns: 16 })
  const users = [{ user: 'alice' }, all, { team: 'red' }, { subject: 'robot' }]
  const maker = await key({ user: 'alice', scope: { rules: [{ verbs: ['create', 'get'] }] } })
  const disabled = await key({ user: 'alice', disabled: true })
  const deleted = await key({ user: 'alice' }, undefined, { finalizers: ['example.com/hold'] })
  await server.call(`${keys}/${deleted.name}`, { method: 'DELETE' })
  const leaked = await key({ user: 'alice' })
  await post('/leaks', { credentials: [leaked.token] }, '')
  const rotated = await key({ user: 'alice' })
  const next = await post(`${keys}/${rotated.name}/rotate`, { spec: { overlapSeconds: 0 } })
  const holders = [
    ...(await Array.fromAsync(users, (spec) => key(spec))),
    ...(await Array.fromAsync(scopes, (scope, index) => key({ ...users[index % users.length], scope }))),
    ...(await Array.fromAsync(scopes.slice(0, 4), (scope) => key({ user: 'alice', scope }, maker.token))),
    await key({ user: 'alice' }, maker.token),
    await key({ user: 'alice', scope: {} }),
    await key({ user: 'alice', scope: { rules: [{ namespaces: [''] }] } }),
    await key({ user: 'alice', scope: { rules: [{ nonResourceURLs: ['/metrics'] }] } }),
    await key({ user: 'alice', sourceCIDRs: ['203.0.113.0/24'] }),
    await key({ user: 'alice', sourceCIDRs: ['127.0.0.1'], scope: { projects: [{ project: 'a' }] } }),
    { ...rotated, token: next.json.status.key },
    disabled,
    deleted,
    leaked,
    expired,
  ]
  await expect.poll(async () => (await server.call(keys, { token: expired.token })).status).toBe(401)
  return holders
}

/** Compares both reviews with the request. Returns the check that refuses it, or `none`, and what differs. */
async function compareWithRequest(
  { name, token }: MadeKey,
  asked: AskedRequest,
): Promise<{ check: string; difference?: string }> {
  const { resourceAttributes, nonResourceAttributes, method, path, body, type, nothing } = asked
  const spec = {
    ...(resourceAttributes && { resourceAttributes }),
    ...(nonResourceAttributes && { nonResourceAttributes }),
  }
  const [said, self, met] = await Promise.all([
    post(`${keys}/${name}/accessreview`, { spec: { ...spec, sourceIP: '127.0.0.1' } }),
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec }, token),
    server.call(path, { method, token, body, ...(type && { headers: { 'content-type': type } }) }),
  ])
  const { allowed, reason, steps } = said.json.status
  const refusing = steps.find((step: { allowed?: boolean }) => step.allowed !== true)
  const { status } = met
  const message: string = met.json?.message ?? ''
  // Reviews say in their answer that the caller may not create them, so that a cluster denies and does not fail.
  const answer = met.json?.status ?? {}
  const isDenied = [answer.reason, answer.error].includes(NO_RIGHT)
  const isHidden = status === 403 || status === 404 || isDenied
  const check: string = refusing?.check ?? 'none'
  const agrees: Record<string, () => boolean> = {
    life: () => status === 401 && message === reason,
    source: () => status === 403 && message === reason,
    scope: () => isDenied || (status === 403 && (nothing === true || message.includes(`: ${reason.split(';')[0]}`))),
    rights: () => isHidden,
    // A missing object returns 404 to every user whose scope allows the request.
    none: () => status < 500 && status !== 401 && (!isHidden || (status === 404 && nothing === true)),
  }
  const isUsable = check !== 'life' && check !== 'source'
  const selfAgrees = isUsable ? self.json.status?.allowed === allowed : self.status === status
  if (said.status === 201 && agrees[check]?.() && allowed === (refusing === undefined) && selfAgrees) return { check }
  return {
    check,
    difference: `${said.text} and ${self.text} but ${status} ${message}: ${JSON.stringify([name, asked])}`,
  }
}

// threat: users-13, users-16
test('reviews say what the request itself then gets, for random keys and requests', async () => {
  const holders = await makeHolders()
  // Of these, rights and a role with more rights than its rules decide.
  const whole = [await key({ user: 'alice' }), await key({ ...all, scope: { roles: [{ role: 'platformCLI' }] } })]
  const rest = [
    ...whole.flatMap((holder) => askedRequests.map((asked) => [holder, asked] as const)),
    ...fc.sample(fc.tuple(fc.constantFrom(...holders), fc.constantFrom(...askedRequests)), runs(2000)),
  ]
  const found: string[] = []
  const met = new Map<string, number>()
  // One after the other: many at once take as long, and each of them so much longer that a busy machine ends it by its deadline.
  for (const [holder, asked] of rest) {
    const { check, difference } = await compareWithRequest(holder, asked)
    met.set(check, (met.get(check) ?? 0) + 1)
    if (difference !== undefined) found.push(difference)
  }
  expect(found).toEqual([])
  expect([...met.keys()].sort()).toEqual(['life', 'none', 'rights', 'scope', 'source'])
})

test('a scope names paths below the base path, and restricts none that every user may read', async () => {
  const statusOf = async (scope: object, path: string) => {
    const { token } = await key({ user: 'alice', scope })
    return (await server.call(path, { token })).status
  }
  const metrics = { rules: [{ nonResourceURLs: ['/metrics'] }] }
  expect([await statusOf(metrics, '/metrics'), await statusOf(metrics, '/logs')]).toEqual([404, 403])
  expect(await statusOf({}, '/apis/nobody.example')).toBe(404)
  expect(await statusOf({}, '/apis/management.platform/v2')).toBe(404)
})
