import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type IssuerType, issuerRules } from '../../../lib/federation/catalogue.ts'
import { type ClaimEntry, unmetEntry } from '../../../lib/federation/claims.ts'
import { claimWarnings, validateProviderClaims, validateTrustClaims } from '../../../lib/federation/validateclaims.ts'
import type { JsonObject } from '../../../lib/meta/types.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'

const github = 'https://token.actions.githubusercontent.com'
const gitlab = 'https://gitlab.com'
const buildkite = 'https://agent.buildkite.com'
const cluster = 'https://kubernetes.default.svc'
const google = 'https://accounts.google.com'
const vercel = 'https://oidc.vercel.com'
const company = 'https://login.company.example'
const bitbucket = 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc'

const is = (claim: string, ...values: string[]): ClaimEntry => ({ claim, values })
const like = (claim: string, ...patterns: string[]): ClaimEntry => ({ claim, patterns })
const id = is('repository_id', '456789')
const asked = 'a job asks for them with buildkite-agent oidc request-token --claim'
const uuid = 'f892efa9-103e-4d28-97a1-3b8616a0994d'

const trustErrors = (issuer: string, entries: ClaimEntry[], type?: IssuerType) =>
  validateTrustClaims(entries, issuerRules(issuer, type), issuer).map(({ field, message }) => `${field}: ${message}`)
const providerErrors = (issuer: string, entries?: ClaimEntry[]) =>
  validateProviderClaims(entries, issuerRules(issuer), issuer).map(({ field, message }) => `${field}: ${message}`)

describe('validateTrustClaims', () => {
  test.each<[string, ClaimEntry[]]>([
    [github, [id]],
    [
      github,
      [
        id,
        is('environment', 'production'),
        like('job_workflow_ref', 'octo-org/ci/.github/workflows/deploy.yml@refs/tags/v*'),
      ],
    ],
    [github, [is('repository_owner_id', '65'), like('ref', 'refs/tags/v*')]],
    [github, [id, is('repository', 'octo-org/shop'), is('event_name', 'pull_request')]],
    [gitlab, [is('project_id', '22', '23'), is('ref_protected', 'true')]],
    [buildkite, [is('organization_id', uuid)]],
    [bitbucket, [is('repositoryUuid', `{${uuid}}`)]],
    [
      'https://app.terraform.io',
      [is('terraform_workspace_id', 'ws-mbsd5E3Ktt5Rg2Xm'), is('terraform_run_phase', 'apply')],
    ],
    [`https://oidc.circleci.com/org/${uuid}`, [is('oidc.circleci.com/project-id', uuid)]],
    [cluster, [is('sub', 'system:serviceaccount:shop:operator')]],
    [cluster, [like('sub', 'system:serviceaccount:shop:*')]],
    [google, [is('sub', '110169484474386276334')]],
    [google, [is('hd', 'company.example')]],
    [vercel, [is('sub', 'owner:acme:project:shop:environment:production')]],
    ['https://abc123.tokens.sts.global.api.aws', [is('sub', 'arn:aws:iam::123456789012:role/deployer')]],
    [company, [is('groups', 'engineering')]],
    [company, [like('sub', 'job:*')]],
    [company, [is('email', 'alice@company.example'), is('email_verified', 'true')]],
    [
      gitlab,
      [is('project_id', '22'), like('ci_config_ref_uri', 'gitlab.com/my-group/*//.gitlab-ci.yml@refs/heads/main')],
    ],
  ])('accepts of %s: %j', (issuer, entries) => {
    expect(trustErrors(issuer, entries)).toEqual([])
  })

  const everybody = `spec.claims: Required value: ${github} signs for everybody: bind one of repository_id, repository_owner_id, enterprise_id to exact values`
  test.each<[string, string, ClaimEntry[], string[]]>([
    ['nothing', github, [], [everybody]],
    ['no tenant', github, [is('ref', 'refs/heads/main')], [everybody]],
    [
      'the audience only',
      github,
      [is('aud', 'https://keys.example.com')],
      [everybody, 'spec.claims[0].claim: Forbidden: the provider checks aud of every token'],
    ],
    [
      'a tenant by name',
      github,
      [is('repository', 'octo-org/shop'), is('repository_owner', 'octo-org')],
      [
        'spec.claims: Required value: repository and repository_owner name what anybody may take when it is given up; bind repository_id as well',
      ],
    ],
    [
      'a tenant by its subject',
      github,
      [is('sub', 'repo:octo-org/shop:ref:refs/heads/main')],
      ['spec.claims: Required value: sub names what anybody may take when it is given up; bind repository_id as well'],
    ],
    [
      'a project by its path',
      gitlab,
      [is('project_path', 'group/shop')],
      [
        'spec.claims: Required value: project_path names what anybody may take when it is given up; bind project_id as well',
      ],
    ],
    [
      'the project in which the job of a fork may run',
      gitlab,
      [is('job_project_id', '20')],
      ['spec.claims: Required value: job_project_id is also in tokens for the code of a fork; bind project_id as well'],
    ],
    [
      'a pattern for a tenant',
      github,
      [like('repository_id', '4*')],
      [everybody, 'spec.claims[0].patterns: Forbidden: repository_id takes exact values only'],
    ],
    [
      'a pattern beside an exact value of a tenant',
      github,
      [{ claim: 'repository_id', values: ['1'], patterns: ['2*'] }],
      [everybody, 'spec.claims[0].patterns: Forbidden: repository_id takes exact values only'],
    ],
    [
      'a pattern for the name of a tenant',
      github,
      [id, like('repository', 'octo-org/*')],
      ['spec.claims[1].patterns: Forbidden: repository takes exact values only'],
    ],
    [
      'every repository: a pattern that begins with a wildcard',
      github,
      [id, like('ref', '*')],
      ['spec.claims[1].patterns[0]: Invalid value: "*": must not begin with a wildcard'],
    ],
    [
      'a spanning wildcard',
      github,
      [id, like('ref', 'refs/heads/main', 'refs/**')],
      [
        'spec.claims[1].patterns[1]: Invalid value: "refs/**": * stands for a part between / : and @, and ** has no meaning',
      ],
    ],
    [
      'an id that is a name',
      github,
      [is('repository_id', 'octo-org/shop')],
      [everybody, 'spec.claims[0].values[0]: Invalid value: "octo-org/shop": repository_id is a string of digits'],
    ],
    [
      'an empty id',
      github,
      [is('repository_id', '1', '')],
      [everybody, 'spec.claims[0].values[1]: Invalid value: "": repository_id is a string of digits'],
    ],
    [
      'a slug for a UUID',
      buildkite,
      [is('organization_id', 'acme-inc')],
      [
        `spec.claims: Required value: ${buildkite} signs for everybody: bind one of organization_id, pipeline_id, cluster_id, queue_id to exact values; ${asked}`,
        'spec.claims[0].values[0]: Invalid value: "acme-inc": organization_id is a UUID in lower case',
      ],
    ],
    [
      'an entry without choices',
      github,
      [{ claim: 'repository_id', values: [] }],
      [everybody, 'spec.claims[0]: Required value: must have at least one value or pattern'],
    ],
    [
      'any namespace',
      cluster,
      [like('sub', 'system:serviceaccount:*:operator')],
      [
        `spec.claims: Required value: ${cluster} signs for every service account: bind sub to system:serviceaccount:NAMESPACE:NAME or system:serviceaccount:NAMESPACE:*`,
        'spec.claims[0].patterns[0]: Invalid value: "system:serviceaccount:*:operator": must be system:serviceaccount:NAMESPACE:*',
      ],
    ],
    [
      'no service account',
      cluster,
      [is('sub', 'operator')],
      [
        `spec.claims: Required value: ${cluster} signs for every service account: bind sub to system:serviceaccount:NAMESPACE:NAME or system:serviceaccount:NAMESPACE:*`,
        'spec.claims[0].values[0]: Invalid value: "operator": sub is system:serviceaccount:NAMESPACE:NAME',
      ],
    ],
    [
      'a person by email',
      google,
      [is('email', 'alice@company.example'), is('email_verified', 'true')],
      [`spec.claims: Required value: ${google} signs for everybody: bind one of sub, hd to exact values`],
    ],
    [
      'an empty subject',
      vercel,
      [is('sub', '')],
      [`spec.claims: Required value: ${vercel} signs for everybody: bind sub to exact values`],
    ],
    [
      'a role by name',
      'https://abc123.tokens.sts.global.api.aws',
      [is('sub', 'deployer')],
      [
        'spec.claims: Required value: https://abc123.tokens.sts.global.api.aws signs for every IAM principal of the account: bind sub to exact values',
        'spec.claims[0].values[0]: Invalid value: "deployer": sub is the ARN of an IAM principal',
      ],
    ],
    [
      'a pattern for the subject of a shared issuer',
      vercel,
      [like('sub', '1*')],
      [
        `spec.claims: Required value: ${vercel} signs for everybody: bind sub to exact values`,
        'spec.claims[0].patterns: Forbidden: sub takes exact values only',
      ],
    ],
    [
      'nobody',
      company,
      [],
      ['spec.claims: Required value: must bind at least one claim that says who the workload is'],
    ],
    [
      'nobody in particular',
      company,
      [is('email_verified', 'true'), is('azp', 'x')],
      ['spec.claims: Required value: must bind at least one claim that says who the workload is'],
    ],
    [
      'an email that may not be verified',
      company,
      [is('email', 'alice@company.example'), is('email_verified', 'true', 'false')],
      [
        'spec.claims: Required value: email says who somebody is only if the issuer has verified it: bind email_verified to true as well',
      ],
    ],
    [
      'an email whose verification has no value',
      company,
      [is('email', 'alice@company.example'), is('email_verified')],
      [
        'spec.claims: Required value: email says who somebody is only if the issuer has verified it: bind email_verified to true as well',
        'spec.claims[1]: Required value: must have at least one value or pattern',
      ],
    ],
    [
      'an email whose verification may be another text',
      company,
      [is('email', 'alice@company.example'), { claim: 'email_verified', values: ['true'], patterns: ['f*'] }],
      [
        'spec.claims: Required value: email says who somebody is only if the issuer has verified it: bind email_verified to true as well',
      ],
    ],
    [
      'only what the provider checks',
      company,
      [is('iss', company), is('aud', 'x')],
      [
        'spec.claims: Required value: must bind at least one claim that says who the workload is',
        'spec.claims[0].claim: Forbidden: the provider checks iss of every token',
        'spec.claims[1].claim: Forbidden: the provider checks aud of every token',
      ],
    ],
    [
      'a workflow of any owner',
      github,
      [id, like('job_workflow_ref', 'o*/ci/.github/workflows/deploy.yml@refs/heads/main')],
      [
        'spec.claims[1].patterns[0]: Invalid value: "o*/ci/.github/workflows/deploy.yml@refs/heads/main": must be OWNER/REST without a wildcard in OWNER',
      ],
    ],
    [
      'the source of any owner',
      `https://oidc.circleci.com/org/${uuid}`,
      [is('oidc.circleci.com/project-id', uuid), like('oidc.circleci.com/vcs-origin', 'github.com/*/shop')],
      [
        'spec.claims[1].patterns[0]: Invalid value: "github.com/*/shop": must be HOST/OWNER/REST without a wildcard in HOST and OWNER',
      ],
    ],
    [
      'an email that anybody can set',
      'https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0',
      [is('email', 'alice@company.example'), is('preferred_username', 'alice')],
      ['spec.claims: Required value: must bind at least one claim that says who the workload is'],
    ],
  ])('refuses a trust that binds %s', (_, issuer, entries, errors) => {
    expect(trustErrors(issuer, entries)).toEqual(errors)
  })

  test.each(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])('refuses %s, which the provider checks', (claim) => {
    expect(trustErrors(github, [id, is(claim, 'x')])).toEqual([
      `spec.claims[1].claim: Forbidden: the provider checks ${claim} of every token`,
    ])
  })

  test('has the same rules for a private installation', () => {
    expect(trustErrors('https://gitlab.example.com', [is('project_path', 'a/b')], 'GitLab')).not.toEqual([])
    expect(trustErrors('https://gitlab.example.com', [is('ref', 'main')], 'GitLab')).toEqual([
      'spec.claims: Required value: https://gitlab.example.com signs for every project: bind one of project_id, namespace_id to exact values',
    ])
    expect(trustErrors('https://gitlab.example.com', [is('project_id', '7')], 'GitLab')).toEqual([])
  })

  test('reports the given path', () => {
    const [error] = validateTrustClaims([], issuerRules(company), company, 'spec.rules')
    expect(error?.field).toBe('spec.rules')
  })
})

describe('validateProviderClaims', () => {
  const owner = `spec.claims: Required value: ${github} signs for everybody: bind one of repository_owner_id, enterprise_id to exact values`
  test.each<[string, string, ClaimEntry[] | undefined, string[]]>([
    ['nothing of a shared issuer', github, undefined, [owner]],
    ['an empty list of a shared issuer', github, [], [owner]],
    ['the owner by name', github, [is('repository_owner', 'octo-org')], [owner]],
    ['a repository, which another owner may get', github, [id], [owner]],
    [
      'an owner by pattern',
      github,
      [like('repository_owner_id', '6*')],
      [owner, 'spec.claims[0].patterns: Forbidden: repository_owner_id takes exact values only'],
    ],
    [
      'nothing of Buildkite',
      buildkite,
      [is('pipeline_id', uuid)],
      [`spec.claims: Required value: ${buildkite} signs for everybody: bind organization_id to exact values; ${asked}`],
    ],
    [
      'nothing of Google',
      google,
      undefined,
      [`spec.claims: Required value: ${google} signs for everybody: bind one of hd, sub to exact values`],
    ],
    [
      'the audience',
      company,
      [is('aud', 'x')],
      ['spec.claims[0].claim: Forbidden: the provider checks aud of every token'],
    ],
  ])('refuses a provider that binds %s', (_, issuer, entries, errors) => {
    expect(providerErrors(issuer, entries)).toEqual(errors)
  })

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
  ])('accepts of %s: %j', (issuer, entries) => {
    expect(providerErrors(issuer, entries)).toEqual([])
  })
})

describe('claimWarnings', () => {
  const warnings = (issuer: string, ...entries: ClaimEntry[]) => claimWarnings(entries, issuerRules(issuer))

  test('says who gets in when no branch, environment or workflow is bound', () => {
    expect(warnings(github, id)).toEqual([
      'spec.claims: whoever can push to a branch gets in: bind one of ref, environment, job_workflow_ref, workflow_ref as well',
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

  test('says that a name beside its id breaks when it is renamed', () => {
    expect(warnings(github, is('repository', 'octo-org/shop'), id, is('environment', 'production'))).toEqual([
      'spec.claims[0]: repository is not needed beside repository_id and breaks when it is renamed',
    ])
  })

  test('says nothing about a name without its id', () => {
    const trust = [is('repository_owner_id', '65'), is('repository', 'octo-org/shop'), is('environment', 'production')]
    expect(warnings(github, ...trust)).toEqual([
      'spec.claims: every repository of the owner gets in: bind repository_id as well',
    ])
  })

  test('says what listing an event means that outsiders can cause', () => {
    expect(warnings(github, id, is('ref', 'refs/heads/main'), is('event_name', 'push', 'pull_request_target'))).toEqual(
      ['spec.claims[2]: event_name pull_request_target: people who may not write to the repository can cause it'],
    )
  })

  test('says that people can change a claim, or that nobody may have verified it', () => {
    expect(
      warnings(company, is('groups', 'engineering'), is('preferred_username', 'alice'), is('email', 'a@b.example')),
    ).toEqual([
      'spec.claims[1]: at many issuers, people can change their preferred_username themselves',
      'spec.claims[2]: the issuer may not have verified email: bind email_verified to true as well',
    ])
    expect(warnings(company, is('email', 'a@b.example'), is('email_verified', 'true'))).toEqual([])
  })

  test.each([
    [github, [id, is('environment', 'production')]],
    [gitlab, [is('project_id', '20'), is('ref_protected', 'true')]],
    [cluster, [is('sub', 'system:serviceaccount:shop:operator')]],
    [company, [is('groups', 'engineering')]],
  ])('is silent about a narrow trust of %s', (issuer, entries) => {
    expect(warnings(issuer, ...entries)).toEqual([])
  })
})

describe('an accepted trust', async () => {
  const shapes = await readIdTokenShapes()
  const shared = shapes.filter(({ claims }) => issuerRules(claims.iss).shared)

  /** The token of a stranger who took over every name of the tenant: only the ids differ. */
  function namesakeOf(claims: JsonObject): JsonObject {
    const { tenancy } = issuerRules(String(claims.iss))
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

  test.each(shared)('on a shared issuer lets in no token of another tenant: $name', ({ claims }) => {
    const rules = issuerRules(claims.iss)
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

  test.each(shared)('of a provider of a shared issuer lets in no token of another owner: $name', ({ claims }) => {
    const rules = issuerRules(claims.iss)
    const namesake = namesakeOf(claims)
    const property = fc.property(trustArbitrary(claims, rules.owner), (entries) => {
      if (validateProviderClaims(entries, rules, claims.iss).length > 0) return
      expect(unmetEntry(entries, namesake)).toBeDefined()
    })
    fc.assert(property, { numRuns: 400 })
  })

  test('lets in no token of a stranger with other names and ids, nor one without ids', () => {
    for (const one of shared) {
      const rules = issuerRules(one.claims.iss)
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

  test('refuses the merge request of a fork, whatever it binds besides', () => {
    const shape = (name: string) => shapes.find((one) => one.name === name)?.claims as JsonObject
    const [own, fork] = [shape('gitlab.branch'), shape('gitlab.forkmergerequest')]
    const property = fc.property(trustArbitrary(own, ['project_id', 'namespace_id']), (entries) => {
      if (validateTrustClaims(entries, issuerRules(gitlab), gitlab).length > 0) return
      expect(unmetEntry(entries, fork)).toBeDefined()
    })
    fc.assert(property, { numRuns: 400 })
  })
})
