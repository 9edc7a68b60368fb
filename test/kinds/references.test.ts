/**
 * Tests that no field points an object at something outside it that its writer may not ask for. Every text of every kind is here: a new
 * one is a reference in the schema, which the strategy of its kind judges, or has a reason below.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import type { Schema } from '../../lib/engine/meta/schema/schema.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { validateReferences } from '../../lib/engine/registry/references.ts'
import { kinds } from '../../lib/server/servedkinds.ts'
import { stored } from '../../lib/server/storedkinds.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, contextOf, userNamed, withScopes } from '../support/users.ts'
import { refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

interface Text {
  path: string
  isReference: boolean
}

/** Returns the fields of free text. */
function textsOf(schema: Schema, path: string): Text[] {
  switch (schema.type) {
    case 'string':
      return schema.enum || schema.format === 'date-time' ? [] : [{ path, isReference: schema.reference === true }]
    case 'list':
      return textsOf(schema.items, `${path}[]`)
    case 'map':
      return textsOf(schema.values, `${path}{}`)
    case 'object':
      return Object.entries(schema.properties).flatMap(([name, one]) => textsOf(one, `${path}.${name}`))
    default:
      return []
  }
}

/** The names of others, which gain by the object what its writer may give. The strategy decides who may name whom. */
const PEOPLE = /\.(user|team|subject|groups\[\]|group|users\[\]|teams\[\])$/
/** Narrows what its object may do, and is judged with every request. */
const SCOPE = /^spec\.scope\./
/** Only shown, hashed, compared with what a token says, or written to the answer. Nothing is read or opened by it. */
const DATA = new Set([
  'displayName',
  'description',
  'reason',
  'key',
  'sourceCIDRs[]',
  'sourceIP',
  'identity',
  'oidcProvider',
  'oidcLogin',
  'parent',
  'claims[]',
  'claimMappings',
  'audience',
  'issuer',
  'jwks',
  'jwksURI',
  'access[]',
  'clusterRef',
  'accessPoint',
  'certificateAuthorityData',
  'server',
  'proxyURL',
  'tlsServerName',
  'exec',
  'token',
  'accessKey',
])
/** Asks about, or selects, objects which are then judged one by one. The tests of these kinds have the proof. */
const JUDGED_ONE_BY_ONE = new Set(['OwnedAccessKeyAccessReview', 'AccessKeyRevocation'])
/** Belongs to the reference beside it. No caller with a scope changes it alone: cluster.test.ts. */
const PART_OF_A_REFERENCE = new Set(['spec.credentials.eks.region'])

const isOther = (kind: string, path: string): boolean =>
  kind.endsWith('Review') ||
  JUDGED_ONE_BY_ONE.has(kind) ||
  PEOPLE.test(path) ||
  PART_OF_A_REFERENCE.has(path) ||
  SCOPE.test(path) ||
  DATA.has(path.split('.')[1]?.replace('{}', '') ?? '')

// threat: users-27
test('every text of every kind is a reference, which is judged, or opens nothing', () => {
  const unknown = kinds.flatMap(({ kind, schema }) =>
    textsOf(schema.spec, 'spec').flatMap(({ path, isReference }) =>
      isReference || isOther(kind, path) ? [] : [`${kind} ${path}`],
    ),
  )
  expect(unknown).toEqual([])
})

const evil: Scope = { projects: [{ project: 'evil' }] }
const claims = [
  { claim: 'repository_id', values: ['1'] },
  { claim: 'environment', values: ['production'] },
]

const accounts = { server: 'https://eu.example.com', tokens: 'ServiceAccounts' }

interface Reference {
  kind: keyof typeof stored
  path: string
  specOf(value: string): JsonObject
  outside: readonly string[]
  inside: readonly { value: string; scope: Scope }[]
}

/** The references, with values that a caller scoped to project `evil` may not set on an object `mine`, and some that it may. */
const references: readonly Reference[] = [
  {
    kind: 'VirtualClusterInstance',
    path: 'spec.credentialsSecretRef.secretName',
    specOf: (value) => ({ credentialsSecretRef: { secretName: value } }),
    outside: [
      'p-victim/vc',
      'vc',
      'p-evil',
      '/p-evil/mine',
      'p-evil/',
      'p-evil//mine',
      'p-evil/../p-victim/vc',
      'p-evil/./mine',
      'p-evil/mine/..',
      'p-evil/mine/../../p-victim/vc',
      'p-evilish/vc',
      'p-evil-2/vc',
      'P-EVIL/mine',
      'p-evil%2Fmine',
      ' p-evil/mine',
      'p-evil\\..\\p-victim/vc',
      'arn:aws:secretsmanager:us-east-1:1:secret:p-evil/mine',
    ],
    inside: [
      { value: 'p-evil/mine', scope: evil },
      { value: 'p-evil/other', scope: evil },
      { value: 'p-evil/mine/next', scope: evil },
      { value: '', scope: evil },
    ],
  },
  {
    kind: 'VirtualClusterInstance',
    path: 'spec.serviceAccounts.namespace',
    specOf: (value) => ({ tokens: 'ServiceAccounts', serviceAccounts: { namespace: value } }),
    outside: ['keyplane', 'other', 'p-evil'],
    inside: [],
  },
  {
    kind: 'Cluster',
    path: 'spec.serviceAccounts.namespace',
    specOf: (value) => ({ ...accounts, serviceAccounts: { namespace: value } }),
    outside: ['keyplane', 'other'],
    inside: [],
  },
  {
    kind: 'Cluster',
    path: 'spec.credentials.secretRef.name',
    specOf: (value) => ({ ...accounts, credentials: { secretRef: { name: value } } }),
    outside: ['mine', 'prod', 'p-evil/mine'],
    inside: [],
  },
  {
    kind: 'Cluster',
    path: 'spec.credentials.eks.clusterName',
    specOf: (value) => ({ ...accounts, credentials: { eks: { clusterName: value, region: 'eu-central-1' } } }),
    outside: ['prod', 'other'],
    inside: [],
  },
  {
    kind: 'FederatedIdentityCredential',
    path: 'spec.identityProvider',
    specOf: (value) => ({ identityProvider: value, claims, scope: {} }),
    outside: ['github', 'nothing', '../identityproviders/github'],
    inside: [
      { value: 'github', scope: { rules: [{ verbs: ['use'], resources: [{ group: 'management.platform' }] }] } },
      { value: 'github', scope: { rules: [{ verbs: ['get'], resources: [{ group: 'management.platform' }] }] } },
    ],
  },
]

test('each reference of the schemas has its row here', () => {
  const found = kinds.flatMap(({ kind, schema }) =>
    textsOf(schema.spec, 'spec').flatMap(({ path, isReference }) => (isReference ? [`${kind} ${path}`] : [])),
  )
  expect(references.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual(found.sort())
})

describe.each(references)('$kind $path', ({ kind, path, specOf, outside, inside }) => {
  const place = () => {
    const world = worldOf(stored[kind], deployment.parts)
    const namespace = world.namespace && 'p-evil'
    const metadata = { name: 'mine', ...(namespace && { namespace }) }
    return { world, objectWith: (value: string) => world.object(metadata, specOf(value)) }
  }
  const errorsFor = (value: string, scope: Scope, old?: string, user = admin) => {
    const { world, objectWith } = place()
    const context = contextOf(withScopes(user, scope))
    return validateReferences(
      world.store,
      { object: objectWith(value) },
      old === undefined ? undefined : objectWith(old),
      context,
    )
  }

  // threat: users-27
  test.each(outside)('does not point at %j for a caller with a scope, new or changed', async (value) => {
    for (const scope of [evil, {}]) {
      expect(errorsFor(value, scope).map(({ field }) => field)).toEqual([path])
      expect(errorsFor(value, scope, 'former').map(({ field }) => field)).toEqual([path])
    }
    const { world, objectWith } = place()
    for (const dryRun of [false, true]) {
      const context = contextOf(withScopes(admin, evil), { dryRun })
      const refused = await refusal(createObject(world.store, { object: objectWith(value), secrets: [] }, context))
      expect([refused.code, refused.details?.causes?.map(({ field }) => field)]).toEqual([422, [path]])
    }
  })

  test.each(outside)('stays at %j, which somebody else has set', (value) => {
    expect(errorsFor(value, evil, value)).toEqual([])
  })

  test.each(inside)('points at $value for a caller who may ask for it', ({ value, scope }) => {
    expect(errorsFor(value, scope)).toEqual([])
  })
})

describe('the secret of an instance', () => {
  const errors = (value: string, user = admin) => {
    const world = worldOf(stored.VirtualClusterInstance, deployment.parts)
    const object = world.object({ name: 'mine', namespace: 'p-evil' }, { credentialsSecretRef: { secretName: value } })
    return validateReferences(world.store, { object }, undefined, contextOf(user)).map(({ message }) => message)
  }
  const patchOne: Scope = {
    rules: [
      {
        verbs: ['get', 'patch'],
        namespaces: ['p-evil'],
        resources: [{ group: 'management.platform', resources: ['virtualclusterinstances'], resourceNames: ['mine'] }],
      },
    ],
  }

  test('is anywhere for system:masters without a scope, and for nobody else', () => {
    expect(errors('p-victim/vc')).toEqual([])
    expect(errors('p-victim/vc', userNamed('owner'))).toHaveLength(1)
  })

  test('is that of no other instance for a key which may change one', () => {
    const user = withScopes(admin, patchOne)
    expect([errors('p-evil/mine', user), errors('p-evil/mine/b', user)]).toEqual([[], []])
    expect(errors('p-evil/other', user)).toEqual([
      'Invalid value: "p-evil/other": the access key used has a scope that does not allow changing virtual cluster instance "p-evil/other"',
    ])
  })
})

test('a field that no strategy judges can be set by nobody', () => {
  const { store, object } = worldOf(stored.VirtualClusterInstance, deployment.parts)
  const blind = { ...store, strategy: {} }
  const draft = { object: object({ name: 'a' }, { credentialsSecretRef: { secretName: 'a' } }) }
  expect(validateReferences(blind, draft, undefined, contextOf(admin))).toHaveLength(1)
})
