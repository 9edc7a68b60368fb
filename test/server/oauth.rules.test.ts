/** Tests what an exchange makes of a trust, a provider and an ID token, without a server. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Target } from '../../lib/access/attributes/attributes.ts'
import { reviewAttributes } from '../../lib/access/review.ts'
import { withScope } from '../../lib/access/scopes/chain.ts'
import { evaluate } from '../../lib/access/scopes/evaluate.ts'
import { evaluateAt } from '../../lib/access/scopes/place.ts'
import type { Scope, ScopeChain } from '../../lib/access/scopes/scope.ts'
import { parseSpaceNamespace } from '../../lib/access/scopes/space.ts'
import { mayReview } from '../../lib/access/users/reviewright.ts'
import { accountFor } from '../../lib/clusters/serviceaccounts/accountname.ts'
import { labelValueErrors } from '../../lib/engine/meta/object/names.ts'
import type { JsonObject, JsonValue } from '../../lib/engine/meta/types.ts'
import { exchangedKeyName, exchangedKeyObject, labelsOf } from '../../lib/federation/exchange/exchangedkey.ts'
import { grantOf } from '../../lib/federation/exchange/grant.ts'
import { mapUser } from '../../lib/federation/exchange/mappeduser.ts'
import { checkClaims, checkMoment, checkTarget, checkTenancy } from '../../lib/federation/exchange/tokenchecks.ts'
import type { TrustSpec } from '../../lib/federation/federatedidentitycredential.schema.ts'
import type { ProviderSpec } from '../../lib/federation/identityprovider.schema.ts'
import type { IdToken } from '../../lib/federation/idtoken.ts'
import { issuerTypes } from '../../lib/federation/issuers.ts'
import { OAuthError } from '../../lib/federation/oauth/oautherror.ts'
import type { Provider } from '../../lib/federation/provider.ts'
import type { Trust } from '../../lib/federation/trust.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { KINDS } from '../../lib/kinds.ts'
import { alice, withScopes } from '../support/users.ts'
import cases from './vectors/oauth.rules.cases.json' with { type: 'json' }

const github = 'https://token.actions.githubusercontent.com'
const own = 'https://keys.example.com'
const now = new Date('2026-11-22T12:00:00Z')
const seconds = now.getTime() / 1000

/** An access key, which no object may show. */
const someKey = generateAccessKey(randomBytes)

const tokenOf = (claims: JsonObject, more: Partial<IdToken> = {}): IdToken => ({
  alg: 'RS256',
  issuer: github,
  audience: own,
  subject: 'job',
  issuedAt: seconds,
  expires: seconds + 300,
  claims,
  signingInput: 'a.b',
  signature: new Uint8Array(),
  text: 'a.b.c',
  ...more,
})
const providerOf = (spec: Partial<ProviderSpec> = {}): Provider => ({
  name: 'github',
  uid: 'p',
  revision: 0,
  deleted: false,
  spec: { issuer: github, ...spec },
})
const trustOf = (spec: Partial<TrustSpec> = {}, more: Partial<Trust> = {}): Trust => ({
  name: 'shop-deploy',
  uid: 't',
  revision: 0,
  deleted: false,
  creator: 'user:alice',
  carried: [],
  providerUid: 'p',
  spec: { identityProvider: 'github', claims: [{ claim: 'repository_id', values: ['74'] }], ...spec },
  ...more,
})

/** Returns reason and description of the error that `act` throws. */
function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof OAuthError) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'accepted'
}

const job = { repository_id: '74', repository_owner_id: '65', event_name: 'push' }
const generic = 'the subject token is not accepted for this client_id'

describe('the target of a token', () => {
  test.each<[Partial<IdToken>, Partial<ProviderSpec>, string]>([
    [{}, {}, 'accepted'],
    [{ alg: 'ES256' }, {}, 'accepted'],
    [{ audience: 'other' }, { audience: 'other' }, 'accepted'],
    [{ issuer: `${github}/` }, {}, `issuer: ${generic}`],
    [{ issuer: github.toUpperCase() }, {}, `issuer: ${generic}`],
    [{ audience: 'sts.amazonaws.com' }, {}, `audience: ${generic}`],
    [{}, { audience: 'other' }, `audience: ${generic}`],
    [{ audience: `${own}/` }, {}, `audience: ${generic}`],
    [{ alg: 'PS256' }, {}, `algorithm: ${generic}`],
    [{}, { algorithms: ['ES256'] }, `algorithm: ${generic}`],
  ])('of %j with %j is %s', (token, spec, outcome) => {
    expect(refusalOf(() => checkTarget(tokenOf(job, token), providerOf(spec), own))).toBe(outcome)
  })
})

describe('the tenancy', () => {
  const binding = [{ claim: 'repository_owner_id', values: ['65'] }]
  test.each<[JsonObject, string]>([
    [job, 'accepted'],
    [{ ...job, repository_id: '75' }, `tenancy: ${generic}`],
    [{ ...job, repository_id: 74 }, 'accepted'],
    [{ ...job, repository_id: ['74', '75'] }, `tenancy: ${generic}`],
    [{ ...job, repository_owner_id: ['65', '66'] }, `tenancy: ${generic}`],
    [{ repository_owner_id: '65' }, `tenancy: ${generic}`],
    [{ ...job, repository_owner_id: '66' }, `provider_claims: ${generic}`],
    [{ repository_id: '74' }, `provider_claims: ${generic}`],
  ])('of %j is %s', (claims, outcome) => {
    expect(refusalOf(() => checkTenancy(tokenOf(claims), providerOf({ claims: binding }), trustOf()))).toBe(outcome)
  })

  test('is refused when the trust binds none, because it is older than what is known of the issuer', () => {
    const old = trustOf({ claims: [{ claim: 'event_name', values: ['push'] }] })
    expect(refusalOf(() => checkTenancy(tokenOf(job), providerOf({ claims: binding }), old))).toBe(
      `tenancy: ${generic}`,
    )
  })

  // threat: exchange-2
  test('of a job may be its subject, if that has ids', () => {
    const sub = 'repo:octo-org@65/shop@74:ref:refs/heads/main'
    const at = (value: string, token: JsonObject) =>
      refusalOf(() =>
        checkTenancy(tokenOf(token), providerOf(), trustOf({ claims: [{ claim: 'sub', values: [value] }] })),
      )
    expect(at(sub, { ...job, sub })).toBe('accepted')
    expect(at(sub, { ...job, sub: sub.replace('@74', '@75') })).toBe(`tenancy: ${generic}`)
    expect(at(sub, job)).toBe(`tenancy: ${generic}`)
    const named = 'repo:octo-org/shop:ref:refs/heads/main'
    expect(at(named, { ...job, sub: named })).toBe(`tenancy: ${generic}`)
  })

  test('of a pod is its service account', () => {
    const kubernetes = providerOf({ issuer: 'https://kubernetes.default.svc', type: 'Kubernetes' })
    const pod = trustOf({ claims: [{ claim: 'sub', values: ['system:serviceaccount:a:b'] }] })
    const token = tokenOf({ sub: 'system:serviceaccount:a:c' })
    expect(refusalOf(() => checkTenancy(token, kubernetes, pod))).toBe(`tenancy: ${generic}`)
  })
})

describe('the times', () => {
  const at = (more: Partial<IdToken>, spec: Partial<ProviderSpec> = {}, rejectedBefore = 0) =>
    refusalOf(() => checkMoment(tokenOf(job, more), providerOf(spec), now, rejectedBefore))
  test.each<[Partial<IdToken>, string]>([
    [{ expires: seconds - 29 }, 'accepted'],
    [
      { expires: seconds - 31 },
      'expired: the subject token has expired (exp 2026-11-22T11:59:29Z, 31 s ago): get it right before the exchange',
    ],
    [{ issuedAt: seconds + 30 }, 'accepted'],
    [
      { issuedAt: seconds + 31 },
      'not_yet_valid: the subject token is not yet valid (iat 2026-11-22T12:00:31Z, 31 s ahead)',
    ],
    [
      { notBefore: seconds + 60 },
      'not_yet_valid: the subject token is not yet valid (nbf 2026-11-22T12:01:00Z, 60 s ahead)',
    ],
  ])('of %j are %s', (more, outcome) => expect(at(more)).toBe(outcome))

  // threat: exchange-11
  test.each(issuerTypes)('of %s have the longest life of the type, whatever the token says', (type) => {
    const spec = { issuer: 'https://issuer.example.com', type }
    const ofToken = { claims: { type: 'Azure', tid: 'a', 'kubernetes.io': {} }, issuedAt: seconds - 60 }
    const lives = (life: number) => at({ ...ofToken, expires: seconds - 60 + life }, spec)
    const tooLong =
      'too_long: the subject token is valid for more than 24 hours: ask the issuer for a shorter one (GitLab: a shorter timeout of the job)'
    expect(lives(86_400)).toBe('accepted')
    expect(lives(86_700)).toBe(type === 'Azure' ? 'accepted' : tooLong)
    expect(lives(86_701)).toBe(tooLong)
  })

  // threat: exchange-11
  test('of a known issuer have its longest life, whatever type the provider says', () => {
    const longer = { expires: seconds + 86_700 }
    expect(at(longer, { issuer: github, type: 'Azure' })).toMatch(/^too_long/)
    expect(at(longer, { issuer: 'https://sts.windows.net/aaaabbbb-0000-cccc-1111-dddd2222eeee/' })).toBe('accepted')
  })

  test('are limited by the provider and by a restore', () => {
    expect(at({ issuedAt: seconds - 120 }, { maxTokenAge: 60 })).toMatch(/^too_old: the subject token is too old/)
    expect(at({}, {}, seconds)).toBe('accepted')
    expect(at({}, {}, seconds + 1)).toBe(
      'before_restore: the subject token was issued before this service was restored: get a new one from the issuer',
    )
  })
})

describe('the other claims', () => {
  const check = (claims: JsonObject, spec: Partial<TrustSpec>, ofProvider: Partial<ProviderSpec> = {}) =>
    refusalOf(() => checkClaims(tokenOf({ ...job, ...claims }), providerOf(ofProvider), trustOf(spec)))
  const environment = { claims: [{ claim: 'environment', values: ['production'] }] }

  test.each(cases.judged as [JsonObject, string][])('of %j are %s', (claims, outcome) =>
    expect(check(claims, environment)).toBe(outcome),
  )

  // threat: exchange-5
  test.each(['pull_request', 'pull_request_target', 'workflow_run', 'issue_comment', 'a new event'])(
    'refuse the event %s unless the trust lists it, whatever the provider lists',
    (event) => {
      const text = `event: claim event_name is '${event}', which this client_id does not accept`
      expect(check({ event_name: event }, {})).toBe(text)
      const listed = [{ claim: 'event_name', values: [event] }]
      const among = { claims: [...environment.claims, ...listed] }
      expect(check({ event_name: event, environment: 'production' }, among)).toBe('accepted')
      expect(check({ event_name: event }, {}, { claims: listed })).toBe(text)
      expect(check({ event_name: event }, { claims: listed }, { claims: listed })).toBe('accepted')
    },
  )

  test.each(['push', 'workflow_dispatch', 'repository_dispatch', 'schedule', 'release', 'merge_group', 'deployment'])(
    'accept the event %s, which only people who may write to the repository cause',
    (event) => expect(check({ event_name: event }, {})).toBe('accepted'),
  )

  // threat: exchange-12
  test('refuse a service account of Kubernetes, unless the provider has the type, which a token never changes', () => {
    const sub = 'system:serviceaccount:shop:operator'
    const pod = tokenOf({ sub, 'kubernetes.io': { namespace: 'shop' } })
    const trust = trustOf({ claims: [{ claim: 'sub', values: [sub] }] })
    const at = (spec: Partial<ProviderSpec>) => refusalOf(() => checkClaims(pod, providerOf(spec), trust))
    const cluster = 'https://cluster.example.com'
    const why =
      'claim: the subject token is of a service account of Kubernetes, and its identity provider has the type OIDC: set spec.type: Kubernetes'
    expect(at({ issuer: cluster })).toBe(why)
    expect(at({ issuer: cluster, type: 'OIDC' })).toBe(why)
    expect(at({ issuer: cluster, type: 'GitLab' })).toBe(why.replace('OIDC', 'GitLab'))
    expect(at({ issuer: cluster, type: 'Kubernetes' })).toBe('accepted')
    expect(at({ issuer: 'https://eastus.oic.prod-aks.azure.com/tenant/cluster/' })).toBe('accepted')
  })

  // threat: exchange-13
  test('say that the issuer has left a list out of the token', () => {
    const team = { claims: [{ claim: 'groups', values: ['dev'] }] }
    expect(check({ _claim_names: { groups: 'src1' } }, team)).toBe(
      'claim: the issuer has left claim groups out of the subject token, which only names it (_claim_names): it has too many values',
    )
  })

  // threat: exchange-46
  test('refuse a token of GitHub without an event', () => {
    const { event_name: _, ...rest } = job
    const text = 'event: the subject token has no claim event_name, which this client_id requires'
    expect(refusalOf(() => checkClaims(tokenOf(rest), providerOf(), trustOf()))).toBe(text)
  })
})

describe('a mapped user', () => {
  const username = { claim: 'email', prefix: 'corp:' }
  const person = { email: 'mona@example.com', email_verified: true, groups: ['dev', 'ops'] }
  const map = (claims: JsonObject, more: object = {}) =>
    mapUser(tokenOf(claims), { username, groups: [{ claim: 'groups', value: 'dev', group: 'team:shop' }], ...more })

  test('has the name of a verified email, and the mapped groups', () => {
    expect(map(person)).toEqual({ user: 'corp:mona@example.com', groups: ['team:shop'] })
    expect(map({ ...person, groups: 'dev' }).groups).toEqual(['team:shop'])
    expect(map({ ...person, groups: ['Dev', 'dev '] }).groups).toEqual([])
    expect(map({ ...person, azp: own }).user).toBe('corp:mona@example.com')
    expect(map({ ...person, email_verified: 'true' }).user).toBe('corp:mona@example.com')
    const many = [...Array.from({ length: 900 }, (_, index) => `group-${index}`), 'dev']
    expect(map({ ...person, groups: many }).groups).toEqual(['team:shop'])
  })

  test('gets no group from a claim that is absent, and is refused if the issuer has left it out, as Entra does above 200 groups', () => {
    const { groups: _, ...rest } = person
    expect(map(rest).groups).toEqual([])
    const why = 'claim: the issuer has left claim groups out of the subject token, which only names it (_claim_names)'
    const named = { ...rest, _claim_names: { groups: 'src1' } }
    expect(refusalOf(() => map(named))).toContain(why)
    expect(map(named, { groups: [] }).groups).toEqual([])
  })

  // threat: exchange-56
  test.each<[JsonObject, string]>([
    [{ ...person, email_verified: false }, 'username: claim email_verified is not true'],
    [{ ...person, email_verified: 'True' }, 'username: claim email_verified is not true'],
    [{ email: 'mona@example.com' }, 'username: claim email_verified is not true'],
    [{ ...person, email: '' }, 'username: the subject token has no claim email'],
    [{ ...person, email: ['mona@example.com'] }, 'username: the subject token has no claim email'],
    [{ ...person, azp: 'other' }, "username: claim azp is 'other', which is not the audience of the subject token"],
    [{ ...person, azp: 7 }, 'username: claim azp is not a string'],
    [{ ...person, email: 'a\u202eb' }, 'username: claim email gives no valid username'],
    [{ ...person, email: 'x'.repeat(300) }, 'username: claim email gives no valid username'],
    [{ ...person, email: someKey }, 'username: claim email gives no valid username'],
  ])('is refused for %j', (claims, why) => expect(refusalOf(() => map(claims))).toContain(why))

  // threat: exchange-56
  test.each(['system:admin', 'team:x', 'subject:x'])('is never %s', (name) => {
    const by = { username: { claim: 'name', prefix: '' } }
    expect(refusalOf(() => map({ name }, by))).toBe('username: claim name gives no valid username')
    const split = { username: { claim: 'name', prefix: name.slice(0, 3) } }
    expect(refusalOf(() => map({ name: name.slice(3) }, split))).toContain('gives no valid username')
  })
})

describe('the grant', () => {
  const limits = { exchange: 43_200, key: 0 }
  const scopes = ['a', 'b', 'c', 'd'].map((project) => ({ projects: [{ project }] }))
  const [ceiling = {}, carried = {}, granted = {}, asked = {}] = scopes

  // threat: exchange-53
  test('has the scopes of the provider, the maker, the trust and the request', () => {
    const trust = trustOf({ scope: granted }, { carried: [carried] })
    const grant = grantOf(trust, providerOf({ scope: ceiling }), asked, limits)
    expect(grant).toEqual({ ttl: 3600, carried: [ceiling, carried, granted], scope: asked })
    expect(grantOf(trust, providerOf(), undefined, limits)).toEqual({ ttl: 3600, carried: [carried], scope: granted })
    expect(grantOf(trustOf(), providerOf(), undefined, limits)).toEqual({ ttl: 3600, carried: [] })
  })

  // threat: exchange-6
  test('allows nothing that the trust does not allow without a scope of the request', () => {
    const options = { projectNamespacePrefix: 'p-' }
    const targets: Target[] = [
      { type: 'Management' },
      ...['p', 'q'].map((project): Target => ({ type: 'ProjectVirtualCluster', project, virtualCluster: 'vc' })),
    ]
    const mayReviewAt = (grant: ReturnType<typeof grantOf>, target: Target) => {
      const user = withScopes(alice, ...withScope(grant.carried, grant.scope))
      const attributes = reviewAttributes(KINDS.TokenReview, target)
      return evaluate(user.chain, attributes, options).allowed && mayReview(user, attributes, options)?.allowed === true
    }
    const limited = { roles: [{ role: 'agent', projects: ['p'] }], rules: [{}] }
    const trusts = [
      undefined,
      {},
      { rules: [{}] },
      { roles: [{ role: 'agent' }] },
      { roles: [{ role: 'vcluster' }] },
      limited,
    ]
    const verdicts = trusts.flatMap((scope) =>
      ['agent', 'vcluster', 'platformCLI', 'runner'].map((role) => {
        const trust = trustOf(scope && { scope })
        const without = grantOf(trust, providerOf(), undefined, limits)
        try {
          const narrowed = grantOf(trust, providerOf(), { roles: [{ role }] }, limits)
          return targets.every((one) => mayReviewAt(without, one) || !mayReviewAt(narrowed, one)) ? 'narrower' : 'WIDER'
        } catch (error) {
          return (error as OAuthError).code
        }
      }),
    )
    expect(verdicts.join(' ')).toBe(
      [
        ...Array(3).fill('invalid_scope invalid_scope narrower narrower'),
        'narrower invalid_scope narrower narrower',
        'invalid_scope narrower narrower narrower',
        'narrower invalid_scope narrower narrower',
      ].join(' '),
    )
  })

  // threat: exchange-6, exchange-36
  test('with the role view stays one that only reads, whatever narrower scope a request asks for', () => {
    const clusters = [{ cluster: 'eu' }, { cluster: 'us' }]
    const view: Scope = { roles: [{ role: 'view' }], clusters }
    const chainOf = (granted: Scope, asked: Scope) => {
      const { carried, scope } = grantOf(trustOf({ scope: granted }), providerOf(), asked, limits)
      return withScope(carried, scope)
    }
    const may = (chain: ScopeChain, cluster: string, verb: string) =>
      evaluateAt(
        chain,
        { type: 'cluster', name: cluster },
        {
          kind: 'resource',
          target: { type: 'Management' },
          verb,
          group: '',
          resource: 'pods',
          subresource: '',
          name: '',
          namespace: 's',
        },
        { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
      ).allowed
    const account = (chain: ScopeChain, name: string) =>
      accountFor('user:alice', chain, { type: 'cluster', name }, { projectNamespacePrefix: 'p-' })
    const eu: Scope = { clusters: [{ cluster: 'eu' }] }
    // One role of two scopes is enough, whichever has it.
    for (const chain of [
      chainOf(view, eu),
      chainOf({ clusters }, { ...view, ...eu }),
      chainOf(view, { ...view, ...eu }),
    ]) {
      expect(['list', 'create', 'delete'].map((verb) => may(chain, 'eu', verb))).toEqual([true, false, false])
      expect(may(chain, 'us', 'list')).toBe(false)
      expect([account(chain, 'eu'), account(chain, 'us')]).toEqual(['user.alice.view', undefined])
    }
    const rules = chainOf(view, { rules: [{ verbs: ['list', 'delete'] }] })
    expect(['list', 'delete'].map((verb) => may(rules, 'eu', verb))).toEqual([true, false])
    expect(account(rules, 'eu')).toBeUndefined()
    const wider = chainOf({ ...view, ...eu }, { rules: [{}] })
    expect([may(wider, 'us', 'list'), may(wider, 'eu', 'delete'), account(wider, 'eu')]).toEqual([
      false,
      false,
      'user.alice.view',
    ])
  })

  test('has the shortest lifetime', () => {
    const ttlOf = (ttl: number, maxTTL: number, exchange: number, key: number) =>
      grantOf(trustOf({ ttl }), providerOf({ maxTTL }), undefined, { exchange, key }).ttl
    expect([ttlOf(60, 90, 90, 90), ttlOf(90, 60, 90, 90), ttlOf(90, 90, 60, 90), ttlOf(90, 90, 90, 60)]).toEqual([
      60, 60, 60, 60,
    ])
    expect(ttlOf(90, 90, 90, 0)).toBe(90)
  })

  test('is refused when the scopes together exceed the limits of a chain', () => {
    const many = Array.from({ length: 8 }, (_, index) => ({ projects: [{ project: `p${index}` }] }))
    const why = 'scope: the scopes of the provider, the trust and this request are together too many or too long'
    expect(
      refusalOf(() => grantOf(trustOf({ scope: granted }, { carried: many }), providerOf(), undefined, limits)),
    ).toBe(why)
    const long = { projects: Array.from({ length: 200 }, (_, index) => ({ project: `project-${index}` })) }
    expect(refusalOf(() => grantOf(trustOf(), providerOf(), long, limits))).toBe(why)
  })
})

describe('the key of an exchange', () => {
  const objectOf = (
    claims: JsonObject,
    trust = trustOf({ team: 'shop' }),
    mapped?: { user: string; groups: string[] },
    provider = providerOf(),
  ) =>
    exchangedKeyObject('k', {
      trust,
      provider,
      token: tokenOf({ ...job, ...claims }),
      grant: { ttl: 60, carried: [] },
      ...(mapped && { mapped }),
    })

  test('has the name of its trust and 12 random characters', () => {
    let next = 0
    const random = (bound: number) => next++ % bound
    expect(exchangedKeyName('shop-deploy', random)).toBe('shop-deploy-abcdefghijkl')
    const long = exchangedKeyName(`${'a'.repeat(199)}.b`, random)
    expect(long).toMatch(/^a{199}-[a-z2-7]{12}$/)
  })

  // threat: exchange-7
  test('has the labels of its trust and provider, which are their names or, if these are longer, differ like them', () => {
    const names = ['a'.repeat(63), 'a'.repeat(64), `${'a'.repeat(46)}.${'b'.repeat(206)}`, `${'a'.repeat(64)}b`]
    const labels = names.map((name) => Object.values(labelsOf(name, name)))
    expect(labels[0]).toEqual([names[0], names[0]])
    expect(labels.flat().flatMap(labelValueErrors)).toEqual([])
    expect(new Set(labels.flat()).size).toBe(names.length)
    expect(Object.values(labelsOf(names[1] ?? '', 'github'))).toEqual([`${'a'.repeat(46)}-ffe054fe7ae0cb6d`, 'github'])
  })

  test('shows claims without credentials and invisible characters, cut to 256', () => {
    const { spec } = objectOf({ ref: `a\u202e${'x'.repeat(300)}`, actor: `mpk_${'a'.repeat(49)}`, sha: 7 })
    const shown = { ref: `a\u{FFFD}${'x'.repeat(254)}`, actor: '<redacted>', sha: '7' }
    expect(spec?.identity).toMatchObject({ extraClaims: shown })
  })

  test.each(cases.named as [string, JsonObject][])('of a person shows their name %j', (shown, claims) => {
    const user = { user: 'corp:mona', groups: [] }
    const company = providerOf({ issuer: 'https://login.company.example' })
    expect(objectOf({ ...claims, sub: 'job' }, trustOf({}), user, company).spec).toMatchObject({ displayName: shown })
  })

  test('of a person is a login with what the issuer says about them', () => {
    const trust = trustOf({ groups: ['fixed'] })
    const claims = { email: 'm@example.com', email_verified: true, name: 'Mona', groups: ['dev', 7] }
    const { spec } = objectOf(claims, trust, { user: 'corp:mona', groups: ['team:shop', 'fixed'] })
    expect(spec).toMatchObject({
      type: 'Login',
      user: 'corp:mona',
      groups: ['fixed', 'team:shop'],
      identity: { username: 'Mona', email: 'm@example.com', emailVerified: true, groups: ['dev'], userId: 'job' },
    })
    const said = (email_verified: JsonValue) =>
      objectOf({ ...claims, email_verified }, trust, { user: 'corp:mona', groups: [] }).spec?.identity
    expect(said('true')).toMatchObject({ emailVerified: true })
    expect(said('false')).toMatchObject({ emailVerified: false })
    expect(said('perhaps')).not.toHaveProperty('emailVerified')
  })
})
