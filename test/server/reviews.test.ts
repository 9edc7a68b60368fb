/** Tests the reviews that connected clusters call, against the whole API and in the form of kube-apiserver. */
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { NO_RIGHT } from '../../lib/access/users/reviewright.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { endless } from '../support/deadlines.ts'
import { createExchangedKey, newFederation, openGates, setGate } from '../support/exchangedkeys.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import { messageOf } from '../support/refusals.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews?timeout=30s'
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=3s'
const failed = { user: {}, error: 'invalid bearer token' }

const server = useServer()

const key = (spec: object) => server.makeKey(spec)

const patch = (name: string, spec: object) => server.patch(`${keys}/${name}`, { spec })

/** Stores the time before which tokens of the key are invalid, as a leak of the key does. */
const endTokens = ({ name }: MadeKey, tokensNotBefore: number) =>
  server.parts.storage.update(
    OwnedAccessKey.table,
    name,
    (current) => {
      if (!current) throw new Error('the key is gone')
      return { type: 'put', object: current.object, internal: { ...current.internal, tokensNotBefore } }
    },
    { deadline: endless },
  )

const agentOf = (...clusters: string[]) => ({
  user: 'agent',
  scope: { roles: [{ role: 'agent' }], clusters: clusters.map((cluster) => ({ cluster })) },
})
const at = (...clusters: string[]) => ({ clusters: clusters.map((cluster) => ({ cluster })) })

/** Sends a review as kube-apiserver 1.33 does, whose client always names the cluster's own audience. */
const reviewToken = (caller: string, token: string, audiences = ['https://kubernetes.default.svc']): Promise<Answer> =>
  server.call(tokenReviews, {
    method: 'POST',
    token: caller,
    headers: { accept: 'application/json, */*' },
    body: {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: null },
      spec: { token, audiences },
      status: { user: {} },
    },
  })

const pods = { namespace: 's', verb: 'list', version: 'v1', resource: 'pods' }

const ask = (caller: string, spec: object): Promise<Answer> =>
  server.call(accessReviews, {
    method: 'POST',
    token: caller,
    headers: { accept: 'application/json, */*' },
    body: {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec,
      status: { allowed: false },
    },
  })

const extraOf = ({ name, uid }: MadeKey, scopes: unknown, target: string) => ({
  'management.platform/access-key': [name],
  'management.platform/access-key-uid': [uid],
  'management.platform/scopes': [typeof scopes === 'string' ? scopes : JSON.stringify(scopes)],
  'management.platform/target': [target],
})

/** The extra values of an access key that is reviewed now. */
const reviewedExtra = (...of: Parameters<typeof extraOf>) => ({
  ...extraOf(...of),
  'management.platform/run': [`key ${of[0].name}`],
  'management.platform/issued-at': [expect.stringMatching(/^[0-9]{10}$/)],
})

let eu: MadeKey
let us: MadeKey
let both: MadeKey
let ci: MadeKey
let anything: MadeKey
let instanceUid: string

beforeAll(async () => {
  eu = await key(agentOf('eu'))
  us = await key(agentOf('us'))
  both = await key(agentOf('eu', 'us'))
  ci = await key({ user: 'alice', groups: ['dev', 'system:masters'], scope: at('eu') })
  anything = await key({ user: 'alice' })
  instanceUid = (await server.make(instances('p-a'), instance('x'))).metadata.uid
})

describe('TokenReview', () => {
  test('returns the user of an access key in the form that clusters can see', async () => {
    const { status, json } = await reviewToken(eu.token, ci.token)
    expect(status).toBe(201)
    expect(json).toMatchObject({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' })
    expect(json.status).toEqual({
      authenticated: true,
      user: {
        username: 'alice',
        groups: ['dev', 'platform:admins'],
        extra: reviewedExtra(ci, [at('eu')], 'clusters/eu'),
      },
    })
  })

  // threat: users-12
  test('distinguishes a subject from a user of the same name, here and in tokens', async () => {
    const subject = await key({ subject: 'alice', scope: at('eu') })
    const { user } = (await reviewToken(eu.token, subject.token)).json.status
    expect(user.username).toBe('subject:alice')
    const self = await server.post(`${management}/selves`, {}, subject.token)
    expect(self.json.status.subject).toBe('subject:alice')
    const maker = await key({ subject: 'alice' })
    const { json } = await server.post(
      `${management}/directclusterendpointtokens`,
      { spec: { scope: at('eu') } },
      maker.token,
    )
    expect(decodeJwt(json.status.token).sub).toBe('subject:alice')
  })

  test('updates the last activity of a valid key and of no other', async () => {
    const lastActivity = async ({ name }: MadeKey) => (await server.call(`${keys}/${name}`)).json.status.lastActivity
    const [taken, refused, dry] = [
      await key({ user: 'a', scope: at('eu') }),
      await key({ user: 'a', scope: at('us') }),
      await key({ user: 'a', scope: at('eu') }),
    ]
    expect((await reviewToken(eu.token, taken.token)).json.status.authenticated).toBe(true)
    expect((await reviewToken(eu.token, refused.token)).json.status).toEqual(failed)
    const body = { spec: { token: dry.token } }
    const { json } = await server.post(`${tokenReviews}&dryRun=All`, body, eu.token)
    expect(json.status.authenticated).toBe(true)
    expect(await lastActivity(taken)).toBeDefined()
    expect(await lastActivity(refused)).toBeUndefined()
    expect(await lastActivity(dry)).toBeUndefined()
  })

  // threat: reviews-1
  test('returns the same for every invalid token', async () => {
    const dead = await key({ user: 'a', scope: at('eu') })
    await patch(dead.name, { disabled: true })
    const expired = await key({ user: 'a', scope: at('eu'), ttl: 1 })
    await expect.poll(async () => (await server.call(`${keys}/${expired.name}`)).json.status.phase).toBe('Expired')
    const everywhere = await key({ user: 'a', scope: { rules: [{}] } })
    const elsewhere = await key({ user: 'a', scope: at('us') })
    const jwt = (await server.post(`${management}/directclusterendpointtokens`, { spec: {} })).json.status.token
    const tokens = [
      'nonsense',
      `mpk_${'0'.repeat(49)}`,
      jwt,
      server.adminKey,
      anything.token,
      dead.token,
      expired.token,
      everywhere.token,
      elsewhere.token,
      eu.token.toLowerCase(),
    ]
    for (const token of tokens) {
      const { status, json, headers } = await reviewToken(eu.token, token)
      expect([status, json.status, headers.warning]).toEqual([201, failed, undefined])
    }
  })

  test('returns only audiences of this API', async () => {
    const own = `${server.base}/clusters/eu`
    const reviewFor = async (...audiences: string[]) => (await reviewToken(eu.token, ci.token, audiences)).json.status
    expect((await reviewFor('vault')).audiences).toBeUndefined()
    expect((await reviewFor('vault', own)).audiences).toEqual([own])
    expect(await reviewFor(`${server.base}/clusters/us`)).toEqual(failed)
    expect((await reviewFor(`${server.base}/clusters/us`, own)).audiences).toEqual([own])
    expect((await reviewFor(`${server.base}/clusters/*`)).audiences).toBeUndefined()
  })

  // threat: reviews-3
  test('accepts a key for a space when the cluster identifies itself', async () => {
    const ofSpace = await key({ user: 'alice', scope: { spaces: [{ project: 'shop', space: 'dev' }] } })
    expect((await reviewToken(eu.token, ofSpace.token)).json.status).toEqual(failed)
    const own = [`${server.base}/clusters/eu`]
    const { status } = (await reviewToken(eu.token, ofSpace.token, own)).json
    expect([status.authenticated, status.audiences]).toEqual([true, own])
    expect(status.user.extra['management.platform/target']).toEqual(['clusters/eu'])
    expect((await reviewToken(us.token, ofSpace.token, own)).json.status).toEqual(failed)
    const ofProject = await key({ user: 'alice', scope: { projects: [{ project: 'shop' }] } })
    expect((await reviewToken(eu.token, ofProject.token, own)).json.status).toEqual(failed)
  })

  test('requires the cluster to identify itself for a key with several clusters', async () => {
    const ambiguous = await reviewToken(both.token, ci.token)
    expect(ambiguous.json.status).toEqual(failed)
    expect(ambiguous.headers.warning).toContain('spec.audiences')
    const named = await reviewToken(both.token, ci.token, [`${server.base}/clusters/eu`])
    expect(named.json.status.user.extra['management.platform/target']).toEqual(['clusters/eu'])
    const other = await reviewToken(both.token, ci.token, [`${server.base}/clusters/us`])
    expect(other.json.status).toEqual(failed)
  })

  test('identifies virtual clusters by UID', async () => {
    const vcluster = await key({ user: 'v', scope: { roles: [{ role: 'vcluster', virtualClusters: ['a/x'] }] } })
    const ofProject = await key({ user: 'alice', scope: { projects: [{ project: 'a' }] } })
    const target = `virtualclusters/p-a/x/${instanceUid}`
    const { user } = (await reviewToken(vcluster.token, ofProject.token)).json.status
    expect(user.extra['management.platform/target']).toEqual([target])
    const dev = await key({ user: 'alice', scope: { virtualClusters: [{ project: 'a', virtualCluster: 'y' }] } })
    expect((await reviewToken(vcluster.token, dev.token)).json.status).toEqual(failed)
    expect((await reviewToken(vcluster.token, ci.token)).json.status).toEqual(failed)
    const gone = await key({ user: 'v', scope: { roles: [{ role: 'vcluster', virtualClusters: ['a/gone'] }] } })
    expect((await reviewToken(gone.token, ofProject.token)).json.status).toEqual(failed)
    const reviewAs = (uid: string) =>
      reviewToken(server.adminKey, ofProject.token, [`${server.base}/virtualclusters/p-a/x/${uid}`])
    expect((await reviewAs('1-2')).json.status).toEqual(failed)
    expect((await reviewAs(instanceUid)).json.status.audiences).toHaveLength(1)
  })

  test('lets administrators ask for any cluster, and without a cluster returns groups that no cluster uses', async () => {
    const eus = await reviewToken(server.adminKey, ci.token, [`${server.base}/clusters/eu`])
    expect(eus.json.status.user.extra).toEqual(reviewedExtra(ci, [at('eu')], 'clusters/eu'))
    const { 'management.platform/target': _, ...extra } = reviewedExtra(ci, [at('eu')], '')
    expect((await reviewToken(server.adminKey, ci.token)).json.status.user).toEqual({
      username: 'alice',
      groups: ['dev', 'platform:admins'],
      extra,
    })
    expect((await reviewToken(server.adminKey, anything.token)).json.status).toEqual(failed)
  })

  // threat: reviews-8
  test('authenticates nobody for keys whose scope allows no reviews, and rejects requests without a key', async () => {
    const { status, json } = await reviewToken(ci.token, ci.token)
    expect([status, json.status]).toEqual([201, { user: {}, error: NO_RIGHT }])
    expect((await reviewToken('', ci.token)).status).toBe(401)
  })

  test('requires a token and repeats it in no error', async () => {
    for (const spec of [{}, { token: '' }, undefined])
      expect(messageOf(await server.post(tokenReviews, { spec }))).toEqual([
        400,
        'token is required for TokenReview in authentication',
      ])
    const wrong = await server.post(`${tokenReviews}&fieldValidation=Strict`, {
      kind: 7,
      spec: { token: ci.token, Token: ci.token, audiences: ci.token },
    })
    expect(wrong.status).toBe(400)
    expect(wrong.text).not.toContain(ci.token)
    // A Kubernetes server shows the first 30 bytes.
    const shown = await server.post(tokenReviews, { spec: { token: ci.token }, kind: 7 })
    expect(shown.status).toBe(400)
    expect(shown.text).not.toContain(ci.token.slice(0, 6))
    const mistyped = await server.post(tokenReviews, { spec: { token: [ci.token] } })
    expect(mistyped.status).toBe(422)
    expect(mistyped.text).not.toContain(ci.token)
    expect(server.log.join('')).not.toContain(ci.token)
  })
})

describe('SubjectAccessReview', () => {
  const inSpace = [{ rules: [{ cluster: 'eu', namespaces: ['s'], verbs: ['get', 'list', 'watch'] }] }]
  const verdict = async (caller: MadeKey, scopes: unknown, attributes: object, target = 'clusters/eu', who = ci) =>
    (await ask(caller.token, { user: 'alice', groups: ['dev'], extra: extraOf(who, scopes, target), ...attributes }))
      .json.status
  const resource = (more: object) => ({ resourceAttributes: { ...pods, ...more } })

  test('has no opinion on requests that the scopes allow', async () => {
    for (const asked of [
      resource({}),
      resource({ verb: 'get', name: 'p', subresource: 'log' }),
      { nonResourceAttributes: { path: '/api', verb: 'get' } },
      { nonResourceAttributes: { path: '/openapi/v3/apis/apps/v1', verb: 'get' } },
      resource({ verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews', namespace: '' }),
    ])
      expect(await verdict(eu, inSpace, asked)).toEqual({ allowed: false })
    expect(await verdict(eu, [], resource({ verb: 'delete', namespace: 'kube-system' }))).toEqual({ allowed: false })
  })

  test('denies a request that one scope of the chain omits, and names the entry that it lacks', async () => {
    const rule = { verbs: ['list'], resources: [{ resources: ['pods'] }], namespaces: ['t'], cluster: 'eu' }
    const entry = JSON.stringify({ rules: [rule] })
    const why = `spec.scope does not allow list of pods in namespace "t" in cluster "eu"; ${entry} would allow it; if the scope of the access key has it by now, the token is older: keyplane credential --refresh --cluster eu`
    expect(await verdict(eu, inSpace, resource({ namespace: 't' }))).toEqual({
      allowed: false,
      denied: true,
      reason: why,
    })
    for (const asked of [
      resource({ namespace: '' }),
      resource({ verb: 'delete', name: 'p' }),
      { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    ])
      expect(await verdict(eu, inSpace, asked)).toMatchObject({ allowed: false, denied: true })
    expect(await verdict(eu, [at('eu'), {}], resource({}))).toMatchObject({ denied: true })
    expect(await verdict(us, inSpace, resource({}), 'clusters/us')).toMatchObject({ denied: true })
  })

  test.each<[string, object]>([
    ['disabled', { disabled: true }],
    ['expired', { ttl: 1 }],
  ])('denies everything to a key that is %s', async (_, change) => {
    const who = await key({ user: 'alice', scope: at('eu') })
    expect(await verdict(eu, [at('eu')], resource({}), 'clusters/eu', who)).toEqual({ allowed: false })
    await patch(who.name, change)
    await expect
      .poll(() => verdict(eu, [at('eu')], resource({}), 'clusters/eu', who))
      .toEqual({ allowed: false, denied: true, reason: 'the access key no longer gives access' })
  })

  // A token contains the scopes at its creation. Narrowing a key must also narrow its tokens.
  // threat: reviews-6
  test('denies rights that the key lost after the token was created', async () => {
    const who = await key({ user: 'alice', scope: at('eu', 'us') })
    const chain = [at('eu', 'us')]
    expect(await verdict(eu, chain, resource({}), 'clusters/eu', who)).toEqual({ allowed: false })
    await patch(who.name, { scope: at('us') })
    const why =
      /^spec\.scope does not allow list of pods in namespace "s" in cluster "eu"; \{"rules":.*\} would allow it$/
    const denied = { allowed: false, denied: true, reason: expect.stringMatching(why) }
    expect(await verdict(eu, chain, resource({}), 'clusters/eu', who)).toEqual(denied)
    expect(await verdict(us, chain, resource({}), 'clusters/us', who)).toEqual({ allowed: false })
    // Existing tokens do not gain new rights.
    await patch(who.name, { scope: { rules: [{}] } })
    const elsewhere = resource({ namespace: 't' })
    expect(await verdict(eu, inSpace, elsewhere, 'clusters/eu', who)).toMatchObject({ denied: true })
  })

  // threat: leaks-7
  test('denies tokens from before a leak of their key, and those of clusters that do not send the time of issue', async () => {
    const who = await key({ user: 'alice', scope: at('eu') })
    const extra = extraOf(who, [at('eu')], 'clusters/eu')
    const judged = async (...issued: string[]) => {
      const spec = { user: 'alice', extra: { ...extra, 'management.platform/issued-at': issued }, ...resource({}) }
      return (await ask(eu.token, spec)).json.status
    }
    const noOpinion = { allowed: false }
    for (const issued of [[], ['1795257599'], ['1795257600']]) expect(await judged(...issued)).toEqual(noOpinion)
    await endTokens(who, 1_795_257_600)
    const reason =
      'the access of the token was ended after it was issued: its access key was disabled, changed or reported as leaked. Get a new token'
    const denied = { allowed: false, denied: true, reason }
    expect(await judged('1795257599')).toEqual(denied)
    expect(await judged()).toEqual(denied)
    expect(await judged('1795257600')).toEqual(noOpinion)
    for (const issued of [['1e99'], ['now'], ['1795257600', '1795257600']])
      expect(await judged(...issued)).toMatchObject({ denied: true })
    expect((await patch(who.name, { displayName: 'renamed' })).status).toBe(200)
    expect(await judged('1795257599')).toEqual(denied)
  })

  describe('denies tokens from before an end that was undone:', () => {
    /** Reports whether tokens of the key are denied that were issued so many seconds ago, and later. */
    async function areDenied(who: Pick<MadeKey, 'name' | 'uid'>): Promise<[before: boolean, later: boolean]> {
      const extra = extraOf(who as MadeKey, [at('eu')], 'clusters/eu')
      const denied = async (seconds: number) => {
        const issued = { 'management.platform/issued-at': [String(Math.floor(Date.now() / 1000) + seconds)] }
        const spec = { user: 'alice', extra: { ...extra, ...issued }, ...resource({}) }
        return (await ask(eu.token, spec)).json.status.denied === true
      }
      return [await denied(-60), await denied(60)]
    }

    test.each([
      ['disabled', { disabled: true }, { disabled: false }, true],
      ['given to another user', { user: 'carol' }, { user: 'alice' }, true],
      ['renamed', { displayName: 'renamed' }, { displayName: null }, false],
    ])('a key that was %s', async (_, spec, back, isEnd) => {
      const who = await key({ user: 'alice', scope: at('eu') })
      expect(await areDenied(who)).toEqual([false, false])
      for (const one of [spec, back]) expect((await patch(who.name, one)).status).toBe(200)
      expect(await areDenied(who)).toEqual([isEnd, false])
      expect((await server.post(`${management}/selves`, {}, who.token)).status).toBe(201)
    })

    test.each(['trust', 'provider'] as const)('a %s that was closed', async (kind) => {
      const federation = newFederation()
      await openGates(server.parts, federation)
      const { name, token } = await createExchangedKey(server.parts, federation, { spec: { scope: at('eu') } })
      const { uid } = (await server.call(`${keys}/${name}`)).json.metadata
      expect(await areDenied({ name, uid })).toEqual([false, false])
      const ended = Math.floor(Date.now() / 1000)
      await setGate(server.parts, federation, kind, { disabled: true, ended } as object)
      expect(await areDenied({ name, uid })).toEqual([true, true])
      await setGate(server.parts, federation, kind, { ended } as object)
      expect(await areDenied({ name, uid })).toEqual([true, false])
      expect((await server.post(`${management}/selves`, {}, token)).status).toBe(201)
    })
  })

  // threat: reviews-5
  test('denies everything to a deleted key, even when another key has its name', async () => {
    const who = await key({ user: 'alice', scope: at('eu') })
    const path = `${keys}/${who.name}`
    await server.call(path, { method: 'DELETE' })
    expect(await verdict(eu, [at('eu')], resource({}), 'clusters/eu', who)).toMatchObject({ denied: true })
    await server.post(keys, accessKey(who.name))
    expect(await verdict(eu, [at('eu')], resource({}), 'clusters/eu', who)).toMatchObject({ denied: true })
    for (const name of ['', '/', 'a/b', '__proto__', 'x'.repeat(5000)])
      expect(await verdict(eu, [at('eu')], resource({}), 'clusters/eu', { ...who, name })).toMatchObject({
        denied: true,
      })
  })

  // threat: reviews-7
  test('denies a user of this API whose extra values are incomplete', async () => {
    const whole = extraOf(ci, [at('eu')], 'clusters/eu')
    const reviewAccess = async (extra: object) =>
      (await ask(eu.token, { user: 'alice', extra, resourceAttributes: pods })).json.status
    expect(await reviewAccess(whole)).toEqual({ allowed: false })
    const { 'management.platform/scopes': _, ...rest } = whole
    for (const extra of [rest, extraOf(ci, '[[]]', 'clusters/eu'), extraOf(ci, '['.repeat(100_000), 'clusters/eu')])
      expect(await reviewAccess(extra)).toMatchObject({ denied: true })
    for (const target of ['', 'clusters/*', 'clusters/eu/..', 'virtualclusters/p-a/x', 'a'.repeat(100_000)])
      expect(await reviewAccess(extraOf(ci, [at('eu')], target))).toMatchObject({ denied: true })
  })

  // threat: reviews-4
  test('denies requests for a cluster other than the caller’s', async () => {
    const elsewhere = 'the access key of the caller may not review requests at this cluster'
    expect(await verdict(us, [], resource({}))).toEqual({ allowed: false, denied: true, reason: elsewhere })
    expect(await verdict(both, [], resource({}))).toEqual({ allowed: false })
    expect(await verdict(eu, [], resource({}), 'clusters/eu2', anything)).toMatchObject({ reason: elsewhere })
    const vcluster = await key({ user: 'v', scope: { roles: [{ role: 'vcluster', virtualClusters: ['a/x'] }] } })
    expect(await verdict(vcluster, [], resource({}), 'virtualclusters/p-a/x/1', anything)).toEqual({ allowed: false })
    expect(await verdict(vcluster, [], resource({}), 'virtualclusters/p-a/y/1', anything)).toMatchObject({
      reason: elsewhere,
    })
    expect(await verdict(vcluster, [], resource({}), 'clusters/eu', anything)).toMatchObject({ reason: elsewhere })
  })

  // threat: reviews-8
  test('has no opinion on users of other authenticators', async () => {
    const { status, json } = await ask(eu.token, {
      user: 'system:kube-scheduler',
      groups: ['system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['x'] },
      resourceAttributes: {
        ...pods,
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: [''] }] },
      },
    })
    expect([status, json.status]).toEqual([201, { allowed: false }])
    expect(json.spec.resourceAttributes.fieldSelector.requirements).toHaveLength(1)
    const master = await ask(eu.token, { user: 'x', groups: ['system:masters'], resourceAttributes: pods })
    expect(master.json.status).toEqual({ allowed: false })
  })

  test('tells administrators what a user can do in this API', async () => {
    const can = async (spec: object, attributes: object) =>
      (await ask(server.adminKey, { ...spec, resourceAttributes: { group: 'management.platform', ...attributes } }))
        .json.status
    const own = { resource: 'ownedaccesskeys', verb: 'delete', name: ci.name }
    expect(await can({ user: 'alice' }, own)).toMatchObject({ allowed: true })
    expect(await can({ user: 'bob' }, own)).toEqual({ allowed: false, reason: 'not visible to this user' })
    const scoped = await key({ user: 'root', groups: ['system:masters'], scope: { rules: [{}] } })
    expect(
      (await ask(scoped.token, { user: 'alice', resourceAttributes: { group: 'management.platform', ...own } })).json
        .status,
    ).toEqual({ allowed: false })
  })

  // threat: reviews-8
  test('is denied for keys whose scope allows no reviews, and requires one request of one user', async () => {
    const { json } = await ask(ci.token, { user: 'alice', resourceAttributes: pods })
    expect(json.status).toEqual({ allowed: false, denied: true, reason: NO_RIGHT })
    const path = { path: '/', verb: 'get' }
    for (const spec of [
      { user: 'a' },
      { user: 'a', resourceAttributes: pods, nonResourceAttributes: path },
      { resourceAttributes: pods },
    ])
      expect((await ask(eu.token, spec)).status).toBe(422)
  })
})
