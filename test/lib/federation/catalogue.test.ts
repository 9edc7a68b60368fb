import { describe, expect, test } from 'vitest'
import { isExact, rulesOf } from '../../../lib/federation/catalogue.ts'
import {
  type IssuerType,
  issuerTypes,
  knownIssuer,
  LONGEST_LIFE,
  longestLife,
} from '../../../lib/federation/issuers.ts'
import { typeOf } from '../../../lib/federation/provider.ts'
import { readIdTokenShapes } from '../../support/idtokens.ts'
import cases from './vectors/catalogue.cases.json' with { type: 'json' }

const shapes = await readIdTokenShapes()

describe('knownIssuer', () => {
  test.each([
    ...(cases.issuers as [string, IssuerType | undefined, boolean][]),
    ['https://login.example.com', undefined, false],
    ['https://oic.prod-aks.azure.com.example.com/a/b', undefined, false],
    ['https://example.com/eastus.oic.prod-aks.azure.com/a/b', undefined, false],
    ['https://eastus.oic.prod-aks.azure.com/a', undefined, false],
    ['https://my-oidc.s3.us-east-1.amazonaws.com/a', undefined, false],
    ['https://gitlab.example.com', undefined, false],
    ['https://gitlab.com.example.com', undefined, false],
    ['https://notgitlab.com', undefined, false],
    ['https://example.com/gitlab.com', undefined, false],
    ['https://token-actions.githubusercontent.com', undefined, false],
    ['no URL', undefined, false],
    ['', undefined, false],
  ])('%s is of type %s, shared %s', (issuer, type, shared) => {
    expect(knownIssuer(issuer)?.type).toBe(type)
    expect(rulesOf({ issuer }).shared).toBe(shared)
  })
})

describe('rulesOf', () => {
  test('takes the given type for an unknown issuer only', () => {
    const rules = (issuer: string, type: IssuerType) => [typeOf({ issuer, type }), rulesOf({ issuer, type })]
    expect(rules('https://gitlab.example.com', 'GitLab')).toMatchObject(['GitLab', { shared: false }])
    expect(rules('https://gitlab.com', 'OIDC')).toMatchObject(['GitLab', { shared: true }])
    expect(rules('https://oidc.vercel.com', 'Kubernetes')).toMatchObject(['OIDC', { tenancy: ['sub'] }])
    expect(rulesOf({ issuer: 'https://login.example.com' })).toMatchObject({ shared: false, tenancy: [] })
  })

  test('requires a tenant and an owner of every shared issuer', () => {
    const issuers = [
      'https://oidc.vercel.com',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    ]
    const shared = [...shapes.map(({ claims }) => claims.iss), ...issuers]
      .map((issuer) => rulesOf({ issuer }))
      .filter((rules) => rules.shared)
    expect(shared.length).toBeGreaterThan(10)
    for (const { tenancy, owner } of shared) {
      expect(tenancy).not.toEqual([])
      expect(owner).not.toEqual([])
      expect(tenancy).toEqual(expect.arrayContaining([...owner]))
    }
  })
})

// threat: exchange-11
test('only tokens of Azure may live longer than a day', () => {
  const longer = issuerTypes.filter((type) => longestLife(type) !== 86_400)
  expect(longer.map((type) => [type, longestLife(type)])).toEqual([['Azure', 86_700]])
  expect(LONGEST_LIFE).toBe(86_700)
})

describe('the catalogue', () => {
  test('lists each type once', () =>
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
    ]))

  test.each(shapes)('recognizes the issuer of $name, unless it is a private one', ({ platform, claims, name }) => {
    const isPrivate = ['gitlab.selfmanaged', 'oidc.person'].includes(name)
    expect(knownIssuer(claims.iss)?.type).toBe(isPrivate ? undefined : platform)
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
    } = rulesOf({ issuer: '', type })
    const numbered = display.number ? [display.number.claim] : []
    const named = [
      ...[...tenancy, ...owner, ...mutable, ...recorded, ...Object.keys(patternForms), ...display.parts, ...numbered],
      ...[...Object.entries(names), ...Object.entries(places)].flat(),
      ...advised.flatMap(({ oneOf }) => oneOf.flat()),
      ...(events ? [events.claim] : []),
    ]
    expect(named.filter((claim) => !present.has(claim))).toEqual([])
  })

  test.each(issuerTypes)('gives a replacement that identifies a tenant for each name of %s', (type) => {
    const { names, places = {}, tenancy } = rulesOf({ issuer: '', type })
    expect(tenancy).toEqual(expect.arrayContaining([...Object.values(names), ...Object.values(places)]))
  })

  test.each(shapes.filter(({ platform }) => platform !== 'OIDC'))(
    'expects the form that the ids of $name have',
    ({ claims, platform }) => {
      const { tenancy, form } = rulesOf({ issuer: claims.iss, type: platform as IssuerType })
      const ids = tenancy.flatMap((claim) => (claims[claim] === undefined ? [] : [String(claims[claim])]))
      expect(ids.filter((id) => form?.form.test(id) === false)).toEqual([])
    },
  )
})

describe('isExact', () => {
  test.each(cases.exactness as [IssuerType, string, boolean][])('of %s, %s: %s', (type, claim, exact) =>
    expect(isExact(claim, rulesOf({ issuer: '', type }))).toBe(exact),
  )

  test('holds for the subject of a shared issuer', () =>
    expect(isExact('sub', rulesOf({ issuer: 'https://oidc.vercel.com' }))).toBe(true))
})
