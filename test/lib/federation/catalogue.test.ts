import { describe, expect, test } from 'vitest'
import { type IssuerType, isExact, issuerRules, issuerTypes, recognizeType } from '../../../lib/federation/catalogue.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'

const shapes = await readIdTokenShapes()

describe('recognizeType', () => {
  test.each<[string, IssuerType | undefined, boolean]>([
    ['https://token.actions.githubusercontent.com', 'GitHub', true],
    ['https://token.actions.githubusercontent.com/', 'GitHub', true],
    ['https://token.actions.githubusercontent.com./', 'GitHub', true],
    ['https://TOKEN.actions.githubusercontent.com', 'GitHub', true],
    ['https://token.actions.githubusercontent.com:8443', 'GitHub', true],
    ['https://token.actions.githubusercontent.com/octocat-inc', 'GitHub', false],
    ['https://token.actions.octocorp.ghe.com', 'GitHub', true],
    ['https://github.example.com/_services/token', 'GitHub', false],
    ['https://gitlab.com', 'GitLab', true],
    ['https://agent.buildkite.com', 'Buildkite', true],
    ['https://oidc.circleci.com/org/0f1e2d3c-4b5a-4697-8877-665544332211', 'CircleCI', false],
    ['https://oidc.circleci.com', 'OIDC', true],
    ['https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc', 'Bitbucket', true],
    ['https://app.terraform.io', 'TerraformCloud', true],
    ['https://kubernetes.default.svc', 'Kubernetes', false],
    ['https://kubernetes.default.svc.cluster.local', 'Kubernetes', false],
    ['https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E', 'Kubernetes', false],
    ['https://container.googleapis.com/v1/projects/p/locations/l/clusters/c', 'Kubernetes', false],
    ['https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0', 'Azure', false],
    ['https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', 'Azure', true],
    ['https://sts.windows.net/33e01921-4d64-4f8c-a055-5bdaffd5e33d/', 'Azure', true],
    ['https://sts.windows.net/aaaabbbb-0000-cccc-1111-dddd2222eeee/', 'Azure', false],
    ['https://accounts.google.com', 'Google', true],
    ['https://abc123-def456.tokens.sts.global.api.aws', 'AWS', false],
    ['https://cognito-identity.amazonaws.com', 'OIDC', true],
    ['https://oidc.vercel.com/team', 'OIDC', true],
    ['https://api.pulumi.com/oidc', 'OIDC', true],
    ['https://login.example.com', undefined, false],
    ['https://gitlab.example.com', undefined, false],
    ['https://gitlab.com.example.com', undefined, false],
    ['https://notgitlab.com', undefined, false],
    ['https://example.com/gitlab.com', undefined, false],
    ['https://token-actions.githubusercontent.com', undefined, false],
    ['no URL', undefined, false],
    ['', undefined, false],
  ])('%s is of type %s, shared %s', (issuer, type, shared) => {
    expect(recognizeType(issuer)).toBe(type)
    expect(issuerRules(issuer).shared).toBe(shared)
  })
})

describe('issuerRules', () => {
  test('takes the given type for an unknown issuer only', () => {
    expect(issuerRules('https://gitlab.example.com', 'GitLab')).toMatchObject({ type: 'GitLab', shared: false })
    expect(issuerRules('https://gitlab.com', 'OIDC')).toMatchObject({ type: 'GitLab', shared: true })
    expect(issuerRules('https://oidc.vercel.com', 'Kubernetes')).toMatchObject({ type: 'OIDC', tenancy: ['sub'] })
    expect(issuerRules('https://login.example.com')).toMatchObject({ type: 'OIDC', shared: false, tenancy: [] })
  })

  test('requires a tenant and an owner of every shared issuer', () => {
    const issuers = [
      'https://oidc.vercel.com',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    ]
    const shared = [...shapes.map(({ claims }) => claims.iss), ...issuers]
      .map((issuer) => issuerRules(issuer))
      .filter((rules) => rules.shared)
    expect(shared.length).toBeGreaterThan(10)
    for (const { tenancy, owner } of shared) {
      expect(tenancy).not.toEqual([])
      expect(owner).not.toEqual([])
      expect(tenancy).toEqual(expect.arrayContaining([...owner]))
    }
  })
})

describe('the catalogue', () => {
  test('lists each type once', () => {
    expect(issuerTypes).toEqual([
      'GitHub',
      'GitLab',
      'Buildkite',
      'CircleCI',
      'Bitbucket',
      'TerraformCloud',
      'Kubernetes',
      'Azure',
      'AWS',
      'Google',
      'OIDC',
    ])
  })

  test.each(shapes)('recognizes the issuer of $name, unless it is a private one', ({ platform, claims, name }) => {
    const isPrivate = ['gitlab.selfmanaged', 'oidc.person'].includes(name)
    expect(recognizeType(claims.iss)).toBe(isPrivate ? undefined : platform)
  })

  test.each(issuerTypes)('names claims that tokens of %s have', (type) => {
    const present = new Set(
      shapes.filter(({ platform }) => platform === type).flatMap(({ claims }) => Object.keys(claims)),
    )
    const {
      tenancy,
      owner,
      names,
      places = {},
      mutable = [],
      events,
      advised,
      display,
      recorded,
      patternForms = {},
    } = issuerRules('', type)
    const numbered = display.number ? [display.number.claim] : []
    const named = [
      ...[...tenancy, ...owner, ...mutable, ...recorded, ...Object.keys(patternForms), ...display.parts, ...numbered],
      ...[...Object.entries(names), ...Object.entries(places)].flat(),
      ...advised.flatMap(({ oneOf }) => oneOf),
      ...(events ? [events.claim] : []),
    ]
    expect(named.filter((claim) => !present.has(claim))).toEqual([])
  })

  test.each(issuerTypes)('gives a replacement that identifies a tenant for each name of %s', (type) => {
    const { names, places = {}, tenancy } = issuerRules('', type)
    expect(tenancy).toEqual(expect.arrayContaining([...Object.values(names), ...Object.values(places)]))
  })

  test.each(shapes.filter(({ platform }) => platform !== 'OIDC'))(
    'expects the form that the ids of $name have',
    ({ claims, platform }) => {
      const { tenancy, form } = issuerRules(claims.iss, platform as IssuerType)
      const ids = tenancy.flatMap((claim) => (claims[claim] === undefined ? [] : [String(claims[claim])]))
      expect(ids.filter((id) => form?.form.test(id) === false)).toEqual([])
    },
  )
})

describe('isExact', () => {
  test.each<[IssuerType, string, boolean]>([
    ['GitHub', 'repository_id', true],
    ['GitHub', 'repository', true],
    ['GitHub', 'repository_owner', true],
    ['GitHub', 'sub', true],
    ['GitHub', 'event_name', true],
    ['GitHub', 'actor_id', true],
    ['GitHub', 'ref', false],
    ['GitHub', 'job_workflow_ref', false],
    ['GitLab', 'project_path', true],
    ['GitLab', 'job_project_path', true],
    ['GitLab', 'environment', false],
    ['Bitbucket', 'deploymentEnvironmentUuid', true],
    ['CircleCI', 'oidc.circleci.com/project-id', true],
    ['CircleCI', 'oidc.circleci.com/ssh-rerun', true],
    ['CircleCI', 'oidc.circleci.com/vcs-ref', false],
    ['Kubernetes', 'sub', false],
    ['OIDC', 'email', true],
    ['OIDC', 'sub', false],
  ])('of %s, %s: %s', (type, claim, exact) => {
    expect(isExact(claim, issuerRules('', type))).toBe(exact)
  })

  test('holds for the subject of a shared issuer', () => {
    expect(isExact('sub', issuerRules('https://oidc.vercel.com'))).toBe(true)
  })
})
