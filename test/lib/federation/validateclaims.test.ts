import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { rulesOf } from '../../../lib/federation/catalogue.ts'
import { type ClaimEntry, unmetEntry } from '../../../lib/federation/claims.ts'
import type { IssuerType } from '../../../lib/federation/issuers.ts'
import { claimWarnings, validateProviderClaims, validateTrustClaims } from '../../../lib/federation/validateclaims.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'
import cases from './vectors/validateclaims.cases.json' with { type: 'json' }

const github = 'https://token.actions.githubusercontent.com'
const gitlab = 'https://gitlab.com'
const buildkite = 'https://agent.buildkite.com'
const cluster = 'https://kubernetes.default.svc'
const google = 'https://accounts.google.com'
const company = 'https://login.company.example'
const bitbucket = 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc'

const is = (claim: string, ...values: string[]): ClaimEntry => ({ claim, values })
const id = is('repository_id', '456789')
const uuid = 'f892efa9-103e-4d28-97a1-3b8616a0994d'

const trustErrors = (issuer: string, entries: ClaimEntry[], type?: IssuerType) =>
  validateTrustClaims(entries, rulesOf({ issuer, ...(type && { type }) }), issuer).map(
    ({ field, message }) => `${field}: ${message}`,
  )
const providerErrors = (issuer: string, entries?: ClaimEntry[]) =>
  validateProviderClaims(entries, rulesOf({ issuer }), issuer).map(({ field, message }) => `${field}: ${message}`)

describe('validateTrustClaims', () => {
  test.each(cases.acceptedTrusts as [string, ClaimEntry[]][])('accepts of %s: %j', (issuer, entries) =>
    expect(trustErrors(issuer, entries)).toEqual([]),
  )

  test.each(cases.refusedTrusts as [string, string, ClaimEntry[], string[]][])(
    'refuses a trust that binds %s',
    (_, issuer, entries, errors) => expect(trustErrors(issuer, entries)).toEqual(errors),
  )

  test.each(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])('refuses %s, which the provider checks', (claim) =>
    expect(trustErrors(github, [id, is(claim, 'x')])).toEqual([
      `spec.claims[1].claim: Forbidden: the provider checks ${claim} of every token`,
    ]),
  )

  // threat: exchange-9
  test.each(['locale', 'zoneinfo', 'updated_at', 'scope', 'session_state', 's_hash', 'nonce', 'auth_time'])(
    'refuses %s as the only claim, because it says nothing about who the workload is',
    (claim) => {
      expect(trustErrors(company, [is(claim, 'x')])).toEqual([
        'spec.claims: Required value: must bind at least one claim that identifies the workload',
      ])
      expect(trustErrors(company, [is(claim, 'x'), is('client_id', 'batch')])).toEqual([])
    },
  )

  describe('of the subject of GitHub', () => {
    const whole = 'repo:octo-org@65/octo-repo@74:ref:refs/heads/main'
    const named = 'repo:octo-org/octo-repo:ref:refs/heads/main'
    const taken = [
      'spec.claims: Required value: sub names something that others can take when it is given up; bind repository_id as well',
    ]

    test('accepts the one with the ids, and has no advice about it', () => {
      expect(trustErrors(github, [is('sub', whole, whole.replace('main', 'next'))])).toEqual([])
      expect(claimWarnings([is('sub', whole)], rulesOf({ issuer: github }))).toEqual([])
    })

    // threat: exchange-2
    test.each([
      [named],
      [whole, named],
      ['repo:octo-org/octo-repo@74:ref:refs/heads/main'],
      ['repo:octo-org@65/octo-repo:ref:refs/heads/main'],
      ['repo:octo-org/octo-repo:environment:a@65/b@74:x'],
      ['repo:octo-org@65/octo-repo@74:'],
      ['repo:octo-org@65/octo-repo@74'],
      ['repository_owner:octo-org@65/octo-repo@74:ref:refs/heads/main'],
      [`x${whole}`],
    ])('refuses %j as the only claim', (...values) =>
      expect(trustErrors(github, [is('sub', ...values)])).toEqual(taken),
    )

    test('refuses a pattern, and the form at an issuer of another type', () => {
      const errors = trustErrors(github, [
        { claim: 'sub', patterns: ['repo:octo-org@65/octo-repo@74:ref:refs/heads/*'] },
      ])
      expect(errors).toEqual([...taken, 'spec.claims[0].patterns: Forbidden: sub takes exact values only'])
      expect(trustErrors(gitlab, [is('sub', whole)])).not.toEqual([])
    })
  })

  test('has the same rules for a private installation', () => {
    expect(trustErrors('https://gitlab.example.com', [is('project_path', 'a/b')], 'GitLab')).not.toEqual([])
    expect(trustErrors('https://gitlab.example.com', [is('ref', 'main')], 'GitLab')).toEqual([
      'spec.claims: Required value: https://gitlab.example.com signs for every project: bind one of project_id, namespace_id to exact values',
    ])
    expect(trustErrors('https://gitlab.example.com', [is('project_id', '7')], 'GitLab')).toEqual([])
  })
})

describe('validateProviderClaims', () => {
  const owner = `spec.claims: Required value: ${github} signs for everyone: bind one of repository_owner_id, enterprise_id to exact values`
  test.each([
    ...(cases.refusedProviders as [string, string, ClaimEntry[] | undefined, string[]][]),
    ['nothing of a shared issuer', github, undefined, [owner]],
    [
      'nothing of Google',
      google,
      undefined,
      [`spec.claims: Required value: ${google} signs for everyone: bind one of hd, sub to exact values`],
    ],
  ])('refuses a provider that binds %s', (_, issuer, entries, errors) =>
    expect(providerErrors(issuer, entries)).toEqual(errors),
  )

  test.each<[string, ClaimEntry[] | undefined]>([
    [github, [is('repository_owner_id', '65', '66')]],
    [github, [is('enterprise_id', '123'), is('runner_environment', 'github-hosted')]],
    [`${github}/octocat-inc`, undefined],
    [gitlab, [is('namespace_id', '72')]],
    [buildkite, [is('organization_id', uuid)]],
    [bitbucket, [is('workspaceUuid', `{${uuid}}`)]],
    [cluster, undefined],
    [company, []],
    [company, [is('email_verified', 'true')]],
  ])('accepts of %s: %j', (issuer, entries) => expect(providerErrors(issuer, entries)).toEqual([]))
})

describe('claimWarnings', () => {
  const warnings = (issuer: string, ...entries: ClaimEntry[]) => claimWarnings(entries, rulesOf({ issuer }))

  test('says who gets in when no branch, environment or workflow is bound', () => {
    expect(warnings(github, id)).toEqual([
      'spec.claims: anyone who can push to a branch gets in: bind one of ref, environment, job_workflow_ref, workflow_ref as well',
    ])
    expect(warnings(github, is('repository_owner_id', '65'), is('environment', 'production'))).toEqual([
      'spec.claims: every repository of the owner gets in: bind repository_id as well',
    ])
    expect(
      warnings(`https://oidc.circleci.com/org/${uuid}`, is('oidc.circleci.com/vcs-ref', 'refs/heads/main')),
    ).toEqual([
      'spec.claims: a fork, if the project passes secrets to its builds, gets in: bind oidc.circleci.com/vcs-origin as well',
    ])
  })

  // threat: exchange-8
  test.each([
    [[is('ref', 'main')]],
    [[is('ref', 'main'), is('ref_type', 'branch')]],
    [[is('ref_protected', 'true')]],
    [[is('ref_type', 'branch'), is('ref_protected', 'true', 'false')]],
    [[is('environment', 'production')]],
    [[is('environment_protected', 'false')]],
  ])('says of GitLab that %j accepts what is not protected', (entries) =>
    expect(warnings(gitlab, is('project_id', '20'), ...entries)).toEqual([
      'spec.claims: anyone who can push an unprotected branch or tag gets in: bind one of ref_type and ref_protected, environment_protected as well',
    ]),
  )

  test('says that a name beside its id breaks when it is renamed', () =>
    expect(warnings(github, is('repository', 'octo-org/shop'), id, is('environment', 'production'))).toEqual([
      'spec.claims[0]: repository is not needed with repository_id, and stops matching after a rename',
    ]))

  test('says nothing about a name without its id', () => {
    const trust = [is('repository_owner_id', '65'), is('repository', 'octo-org/shop'), is('environment', 'production')]
    expect(warnings(github, ...trust)).toEqual([
      'spec.claims: every repository of the owner gets in: bind repository_id as well',
    ])
  })

  // threat: exchange-46
  test('says what listing an event means that outsiders can cause', () =>
    expect(warnings(github, id, is('ref', 'refs/heads/main'), is('event_name', 'push', 'pull_request_target'))).toEqual(
      ['spec.claims[2]: event_name pull_request_target: people without write access to the repository can cause it'],
    ))

  test('says that people can change a claim, or that it may be unverified', () => {
    expect(
      warnings(company, is('groups', 'engineering'), is('preferred_username', 'alice'), is('email', 'a@b.example')),
    ).toEqual([
      'spec.claims[1]: at many issuers, people can change their preferred_username themselves',
      'spec.claims[2]: the issuer might not have verified email: bind email_verified to true as well',
    ])
    expect(warnings(company, is('email', 'a@b.example'), is('email_verified', 'true'))).toEqual([])
  })

  test.each([
    [github, [id, is('environment', 'production')]],
    [gitlab, [is('project_id', '20'), is('ref', 'main'), is('ref_type', 'branch'), is('ref_protected', 'true')]],
    [gitlab, [is('project_id', '20'), is('environment', 'production'), is('environment_protected', 'true')]],
    [cluster, [is('sub', 'system:serviceaccount:shop:operator')]],
    [company, [is('groups', 'engineering')]],
  ])('is silent about a narrow trust of %s', (issuer, entries) => expect(warnings(issuer, ...entries)).toEqual([]))
})

describe('an accepted trust', async () => {
  const shapes = await readIdTokenShapes()
  const shared = shapes.filter(({ claims }) => rulesOf({ issuer: claims.iss }).shared)

  /** The token of a stranger who took over every name of the tenant: only the ids differ. */
  function namesakeOf(claims: JsonObject): JsonObject {
    const { tenancy } = rulesOf({ issuer: String(claims.iss) })
    return { ...claims, ...Object.fromEntries(tenancy.map((claim) => [claim, otherId(claims[claim])])) }
  }

  /** Returns an id of the same form. */
  const otherId = (value: unknown): string =>
    String(value ?? '0').replace(/[0-9a-f]/g, (one) => (one === '7' ? '8' : '7'))

  const junk = ['', '*', '7*', 'a*', '**', '0', 'true', 'null', 'main']
  const globbed = (text: string, from: number, length: number) => `${text.slice(0, from)}*${text.slice(from + length)}`

  function entryArbitrary(claims: JsonObject): fc.Arbitrary<ClaimEntry> {
    const scalars = Object.entries(claims).flatMap(([name, value]) =>
      value === null || typeof value === 'object' ? [] : [[name, String(value)] as const],
    )
    return fc.constantFrom(...scalars).chain(([claim, text]) =>
      fc.record(
        {
          claim: fc.constant(claim),
          values: fc.array(fc.oneof(fc.constant(text), fc.constantFrom(...junk)), { maxLength: 3 }),
          patterns: fc.array(
            fc.oneof(
              fc.tuple(fc.nat(text.length), fc.nat(6)).map(([from, length]) => globbed(text, from, length)),
              fc.constantFrom(...junk, text),
            ),
            { maxLength: 2 },
          ),
        },
        { requiredKeys: ['claim'] },
      ),
    )
  }

  /** Trusts of which many are acceptable: each has a claim that may identify the tenant, besides any others. */
  function trustArbitrary(claims: JsonObject, identifying: readonly string[]): fc.Arbitrary<ClaimEntry[]> {
    const present = identifying.filter((claim) => Object.hasOwn(claims, claim))
    const own =
      present.length > 0
        ? entryArbitrary(Object.fromEntries(present.map((claim) => [claim, claims[claim] ?? null])))
        : entryArbitrary(claims)
    return fc.tuple(own, fc.array(entryArbitrary(claims), { maxLength: 3 })).map(([one, others]) => [one, ...others])
  }

  // threat: exchange-1
  test.each(shared)('on a shared issuer lets in no token of another tenant: $name', ({ claims }) => {
    const rules = rulesOf({ issuer: claims.iss })
    const namesake = namesakeOf(claims)
    let accepted = 0
    const property = fc.property(trustArbitrary(claims, rules.tenancy), (entries) => {
      if (validateTrustClaims(entries, rules, claims.iss).length > 0) return
      accepted++
      expect(unmetEntry(entries, namesake)).toBeDefined()
    })
    fc.assert(property, { numRuns: 400 })
    const identifiable = rules.tenancy.some((claim) => Object.hasOwn(claims, claim))
    expect(accepted > 0).toBe(identifiable)
  })

  // threat: exchange-1
  test.each(shared)('of a provider of a shared issuer lets in no token of another owner: $name', ({ claims }) => {
    const rules = rulesOf({ issuer: claims.iss })
    const namesake = namesakeOf(claims)
    const property = fc.property(trustArbitrary(claims, rules.owner), (entries) => {
      if (validateProviderClaims(entries, rules, claims.iss).length > 0) return
      expect(unmetEntry(entries, namesake)).toBeDefined()
    })
    fc.assert(property, { numRuns: 400 })
  })

  // threat: exchange-2
  test('lets in no token of a stranger with other names and ids, nor one without ids', () => {
    for (const one of shared) {
      const rules = rulesOf({ issuer: one.claims.iss })
      for (const claim of rules.tenancy.filter((name) => Object.hasOwn(one.claims, name))) {
        const trust = [is(claim, String(one.claims[claim]))]
        expect([one.name, validateTrustClaims(trust, rules, one.claims.iss)]).toEqual([one.name, []])
        const strangers = shared.filter((other) => other.platform === one.platform && other.tenant !== one.tenant)
        expect(
          strangers.filter(({ claims }) => claims[claim] !== one.claims[claim] && !unmetEntry(trust, claims)),
        ).toEqual([])
      }
    }
  })

  // threat: exchange-3
  test('refuses the merge request of a fork, whatever it binds besides', () => {
    const shape = (name: string) => shapes.find((one) => one.name === name)?.claims as JsonObject
    const [own, fork] = [shape('gitlab.branch'), shape('gitlab.forkmergerequest')]
    const property = fc.property(trustArbitrary(own, ['project_id', 'namespace_id']), (entries) => {
      if (validateTrustClaims(entries, rulesOf({ issuer: gitlab }), gitlab).length > 0) return
      expect(unmetEntry(entries, fork)).toBeDefined()
    })
    fc.assert(property, { numRuns: 400 })
  })
})
