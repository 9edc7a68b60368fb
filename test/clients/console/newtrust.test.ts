/** The form for a new trust: whatever it proposes, the rules of the server accept it without a warning. */
import { describe, expect, test } from 'vitest'
import { newRow } from '../../../clients/console/src/components/scope/scoperows.ts'
import {
  claimFields,
  type Draft,
  draftFor,
  draftOf,
  fieldOf,
  needsOwner,
  problemsOf,
  providerObject,
  trustObject,
  trustPatch,
} from '../../../clients/console/src/pages/trusts/draft.ts'
import { rulesOf } from '../../../lib/federation/catalogue.ts'
import { type IssuerType, issuerTypes } from '../../../lib/federation/issuers.ts'
import { typeOf } from '../../../lib/federation/provider.ts'
import { claimWarnings, validateProviderClaims, validateTrustClaims } from '../../../lib/federation/validateclaims.ts'
import { platformOf, platforms } from './platforms.ts'

const UUID = '0184990a-4782-42b5-afc1-16715b10b10f'

/** What a person types for each claim. */
const TYPED: Readonly<Record<string, string>> = {
  repository_id: '74',
  repository_owner_id: '65',
  project_id: '20',
  namespace_id: '72',
  environment: 'production',
  ref: 'main',
  organization_id: UUID,
  pipeline_id: UUID,
  build_branch: 'main',
  'oidc.circleci.com/project-id': UUID,
  'oidc.circleci.com/vcs-origin': 'github.com/acme-inc/app',
  'oidc.circleci.com/vcs-ref': 'main',
  workspaceUuid: `{${UUID}}`,
  repositoryUuid: `{${UUID}}`,
  deploymentEnvironmentUuid: `{${UUID}}`,
  branchName: 'main',
  terraform_organization_id: 'org-GRNbCjYNpBB6NEH9',
  terraform_workspace_id: 'ws-mbsd5E3Ktt5Rg2Xm',
  terraform_run_phase: 'apply',
  sub: 'shop:operator',
}

const ISSUERS: Readonly<Record<string, string>> = {
  CircleCI: `https://oidc.circleci.com/org/${UUID}`,
  Bitbucket: 'https://api.bitbucket.org/2.0/workspaces/acme-inc/pipelines-config/identity/oidc',
  Kubernetes: 'https://kubernetes.default.svc',
  OIDC: 'https://builds.example.com',
}

/** Every platform with every claim that it lets people choose. */
const cases = platforms.flatMap(({ type, choice = [{ claim: '' }] }) =>
  choice.map(({ claim }) => [type, claim] as const),
)

/** Returns a form that a person has filled in. */
function filled(type: string, choice: string): Draft {
  const draft = { ...draftFor(platformOf(type)), choice }
  const { owner } = platformOf(type)
  return {
    ...draft,
    name: ' shop-deploy ',
    rows: [{ ...newRow(1), project: ' shop ' }],
    newProvider: {
      ...draft.newProvider,
      issuer: draft.newProvider.issuer || (ISSUERS[type] ?? ''),
      owner: owner ? (TYPED[owner.claim] ?? '') : '',
    },
    values: {
      ...draft.values,
      ...Object.fromEntries(claimFields(draft).map(({ claim }) => [claim, ` ${TYPED[claim]} `])),
    },
  }
}

const issuerOf = (draft: Draft) => providerObject(draft)?.spec.issuer ?? ''
const specOf = (draft: Draft) => ({ issuer: issuerOf(draft), type: draft.platform.type as IssuerType })
const rulesFor = (draft: Draft) => rulesOf(specOf(draft))
const claimsOfProvider = (draft: Draft) => providerObject(draft)?.spec.claims

describe('the form', () => {
  test('has every platform that has jobs', () => {
    const people: IssuerType[] = ['Azure', 'AWS', 'Google']
    expect(platforms.map(({ type }) => type).toSorted()).toEqual(
      issuerTypes.filter((type) => !people.includes(type)).toSorted(),
    )
  })

  // threat: exchange-8
  test.each(cases)('of %s with %s makes a trust that the rules accept without a warning', (type, choice) => {
    const draft = filled(type, choice)
    const { claims } = trustObject(draft).spec
    expect(problemsOf(draft)).toEqual({})
    expect(validateTrustClaims(claims, rulesFor(draft), issuerOf(draft))).toEqual([])
    expect(claimWarnings(claims, rulesFor(draft))).toEqual([])
    expect(typeOf(specOf(draft))).toBe(type)
  })

  test.each(cases)('of %s with %s makes a provider that the rules accept', (type, choice) => {
    const draft = filled(type, choice)
    expect(validateProviderClaims(claimsOfProvider(draft), rulesFor(draft), issuerOf(draft))).toEqual([])
  })

  // threat: trusts-2
  test.each(cases)('of %s with %s lets no field out that decides who gets in', (type, choice) => {
    const draft = filled(type, choice)
    for (const { claim, label } of claimFields(draft)) {
      for (const text of ['', ' ', '*', 'release/*']) {
        const problems = problemsOf({ ...draft, values: { ...draft.values, [claim]: text } })
        expect(Object.keys(problems), `${label}: ${text}`).toEqual([claim])
      }
    }
  })

  // threat: trusts-2
  test.each(platforms.filter(({ owner }) => owner).map(({ type }) => type))(
    'of %s demands the organization where strangers have the same issuer',
    (type) => {
      const whole = filled(type, '')
      const draft = { ...whole, newProvider: { ...whole.newProvider, owner: '' } }
      expect([needsOwner(draft), rulesFor(draft).shared]).toEqual([true, true])
      expect(Object.keys(problemsOf(draft))).toEqual(['organization'])
    },
  )

  test('needs no organization for an instance of ones own, and names its platform', () => {
    const whole = filled('GitLab', 'ref')
    const draft = { ...whole, newProvider: { ...whole.newProvider, owner: '', issuer: 'https://git.example.com' } }
    expect(problemsOf(draft)).toEqual({})
    expect(providerObject(draft)).toMatchObject({ spec: { type: 'GitLab' } })
    expect(validateProviderClaims(undefined, rulesFor(draft), issuerOf(draft))).toEqual([])
  })

  test('lets a branch of GitLab in, and no tag of its name', () =>
    expect(trustObject(filled('GitLab', 'ref')).spec.claims).toEqual([
      { claim: 'project_id', values: ['20'] },
      { claim: 'ref', values: ['main'] },
      { claim: 'ref_type', values: ['branch'] },
      { claim: 'ref_protected', values: ['true'] },
    ]))

  test.each([
    ['GitHub', 'ref', 'refs/heads/main'],
    ['CircleCI', 'oidc.circleci.com/vcs-ref', 'refs/heads/main'],
    ['Kubernetes', 'sub', 'system:serviceaccount:shop:operator'],
  ])('of %s writes %s as the platform does', (type, claim, value) =>
    expect(trustObject(filled(type, claim)).spec.claims).toContainEqual({ claim, values: [value] }),
  )

  test('lets nobody else use a new provider unless the person says so', () => {
    const draft = filled('GitHub', 'environment')
    expect(providerObject(draft)).not.toHaveProperty('spec.access')
    const open = { ...draft, newProvider: { ...draft.newProvider, isForAll: true } }
    expect(providerObject(open)).toHaveProperty('spec.access', [{ verbs: ['use'], teams: ['*'] }])
  })

  test('makes no provider beside an existing one', () => {
    const draft = { ...filled('GitHub', 'environment'), provider: 'demo' }
    expect(providerObject(draft)).toBeUndefined()
    expect(trustObject(draft)).toMatchObject({ metadata: { name: 'shop-deploy' }, spec: { identityProvider: 'demo' } })
  })

  test('names the owner, or nobody for the person', () => {
    const draft = filled('GitHub', 'environment')
    expect(trustObject({ ...draft, ownerKind: 'team', owner: ' shop ' })).toHaveProperty('spec.team', 'shop')
    expect(trustObject({ ...draft, owner: 'left over' }).spec).not.toMatchObject({ user: expect.anything() })
    expect(Object.keys(problemsOf({ ...draft, ownerKind: 'team' }))).toEqual(['owner'])
  })

  test('takes no value of a key in place of a name', () => {
    const value = '0123456789abcdef'.repeat(4)
    const draft = { ...filled('GitHub', 'environment'), ownerKind: 'team', owner: value, name: value } as const
    const newProvider = { ...draft.newProvider, name: value }
    const values = { ...draft.values, environment: 'mpk_abc' }
    expect(Object.keys(problemsOf({ ...draft, newProvider, values })).sort()).toEqual([
      'environment',
      'name',
      'owner',
      'providerName',
    ])
  })

  test('demands a scope, and takes no secret in its entries', () => {
    const draft = filled('GitHub', 'environment')
    expect(trustObject(draft).spec.scope).toEqual({ projects: [{ project: 'shop' }] })
    expect(Object.keys(problemsOf({ ...draft, rows: [] }))).toEqual(['scope'])
    expect(Object.keys(problemsOf({ ...draft, rows: [...draft.rows, { ...newRow(2), project: 'mpk_x' }] }))).toEqual([
      '2.project',
    ])
  })

  test.each([
    ['octo-org/shop', 'The id is a number. This prints it: gh api repos/octo-org/shop --jq .id'],
    ['https://github.com/octo-org/shop.git', 'The id is a number. This prints it: gh api repos/octo-org/shop --jq .id'],
    ['octo-org/$(id)', 'The id is a number.'],
    ['shop', 'The id is a number.'],
  ])('answers the repository %s with the command that prints its id', (repository_id, problem) => {
    const draft = filled('GitHub', 'environment')
    expect(problemsOf({ ...draft, values: { ...draft.values, repository_id } })).toEqual({ repository_id: problem })
  })

  test('keeps what has nothing to do with the platform', () => {
    const next = draftFor(platformOf('GitLab'), filled('GitHub', 'environment'))
    expect([next.name, next.rows, next.values, next.newProvider.name]).toEqual([
      ' shop-deploy ',
      [{ ...newRow(1), project: ' shop ' }],
      {},
      'gitlab',
    ])
  })
})

describe('the form of a trust that exists', () => {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
  const trustOf = (draft: Draft, more: object = {}) => ({ metadata, spec: { ...trustObject(draft).spec, ...more } })

  test.each(cases)('of %s with %s makes the same trust', (type, choice) => {
    const trust = trustOf({
      ...filled(type, choice),
      provider: 'p',
      ownerKind: 'team',
      owner: 'shop',
      displayName: 'X',
    })
    const { claims, ...rest } = trust.spec
    const scope = { projects: [{ project: 'shop' }], rules: [{ nonResourceURLs: ['/x'] }] }
    const again = draftOf({ ...trust, spec: { ...rest, scope, claims: claims.toReversed() } }, platformOf(type))
    expect(again && trustObject(again).spec).toEqual({ ...trust.spec, scope })
  })

  test.each<[string, object]>([
    ['a pattern', { claims: [{ claim: 'repository_id', patterns: ['7*'] }] }],
    ['a second value', { claims: [{ claim: 'repository_id', values: ['1', '2'] }] }],
    ['another claim', { claims: [{ claim: 'actor', values: ['x'] }] }],
    ['groups', { groups: ['ops'] }],
    ['no scope', { scope: undefined, claimMappings: { username: { claim: 'sub', prefix: 'x:' } } }],
  ])('is none with %s, so that nothing is lost', (_, more) =>
    expect(
      draftOf(trustOf({ ...filled('GitHub', 'environment'), provider: 'p' }, more), platformOf('GitHub')),
    ).toBeUndefined(),
  )

  test('changes the version that was seen, and takes away the lists that are gone', () => {
    const draft = { ...filled('GitHub', 'environment'), provider: 'p', ttl: 900 }
    const trust = trustOf(draft, { scope: { clusters: [{ cluster: 'eu' }] }, description: 'stays', maxKeys: 3 })
    expect(trustPatch(trust, draft)).toEqual({
      metadata: { uid: 'u', resourceVersion: '7' },
      spec: {
        claims: trust.spec.claims,
        ttl: 900,
        tokensOnly: false,
        displayName: null,
        scope: { clusters: null, projects: [{ project: 'shop' }] },
      },
    })
  })
})

describe('an error of the server is shown at', () => {
  const gitlab = filled('GitLab', 'environment')
  test.each<[path: string, kind: 'provider' | 'trust', field: string | undefined]>([
    ['spec.claims[0].values[0]', 'trust', 'project_id'],
    ['spec.claims[1]', 'trust', 'environment'],
    ['spec.claims[2].values[0]', 'trust', 'environment'],
    ['spec.claims[9]', 'trust', undefined],
    ['spec.claims', 'trust', undefined],
    ['spec.claims', 'provider', 'organization'],
    ['spec.claims[0].values[0]', 'provider', 'organization'],
    ['metadata.name', 'trust', 'name'],
    ['metadata.name', 'provider', 'providerName'],
    ['spec.team', 'trust', 'owner'],
    ['spec.scope.projects[0].project', 'trust', '1.project'],
    ['spec.scope', 'trust', 'scope'],
    ['spec.ttl', 'trust', 'ttl'],
    ['spec.identityProvider', 'trust', 'provider'],
    ['spec.issuer', 'provider', 'issuer'],
    ['spec.jwks', 'provider', 'keys'],
    ['spec.other', 'trust', undefined],
  ])('%s of the %s: %s', (path, kind, field) => expect(fieldOf(path, kind, gitlab)).toBe(field))
})
