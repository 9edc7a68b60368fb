/** Least privilege: the permissions of the roles in the packaged template. */
import { beforeAll, expect, test } from 'vitest'
import { kindRows } from '../../lib/kinds/kinds.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'
import { type Roles, readRoles } from './roles.ts'

const refs = {
  Api: 'api',
  Table: 'table',
  'Table.Arn': 'table',
  'Table.StreamArn': 'stream',
  'UncollectedChanges.Arn': 'queue',
  'FailedWakes.Arn': 'wakes',
  Pepper: 'pepper',
  'Pepper.Id': 'pepper',
  AccessKey: 'access-key',
  'AccessKey.Id': 'access-key',
  SigningKey: 'key',
  'SigningKey.Arn': 'key',
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-central-1',
  'AWS::AccountId': '0',
}
const kinds = kindRows.filter(({ archetype }) => archetype === 'stored').map(({ plural }) => plural)
/** The kinds whose lists read index partitions. */
const owned: readonly string[] = ['federatedidentitycredentials', 'ownedaccesskeys']
const reads = ['GetItem', 'BatchGetItem', 'Query', 'ConditionCheckItem']
const writes = ['PutItem', 'UpdateItem', 'DeleteItem']
const every = [...reads, ...writes]

const packaged = usePackagedTemplate()
let roles: Roles
beforeAll(() => {
  roles = readRoles(packaged.text, refs)
})

const actions = (name: string) => roles.statements(name).flatMap(({ Action }) => Action)
const functionsWith = (action: string, resource: string) =>
  packaged.names.filter((name) => roles.allows(name, { action, resource }))
const functionsAccessing = (operations: readonly string[], partition: string) =>
  packaged.names.filter((name) =>
    operations.some((one) =>
      roles.allows(name, { action: `dynamodb:${one}`, resource: 'table', partitions: [partition] }),
    ),
  )
/** Functions that write objects of the kind at the request of a client. */
const writersOf = (kind: string) => [
  ...['create', 'delete', 'deletecollection', 'patch', 'update'].map((verb) => `${kind}/${verb}`),
  ...(kind === 'ownedaccesskeys'
    ? ['leaks', 'oauth2/revoke', 'oauth2/token', 'ownedaccesskeys/rotate', 'accesskeyrevocations/create']
    : []),
  ...(kind === 'federatedidentitycredentials' ? ['accesskeyrevocations/create'] : []),
]
/** Changes of a provider list the trusts that it leaves open, and the list of namespaces reads the instances. */
const listersOf = (kind: string) => {
  if (kind === 'virtualclusterinstances') return ['namespaces/list']
  return kind === 'federatedidentitycredentials' ? ['identityproviders/patch', 'identityproviders/update'] : []
}
/** Functions that write objects of the kind. */
const familyReaders = ['deletecollection', 'history', 'list'].map((verb) => `ownedaccesskeys/${verb}`)
const allWritersOf = (kind: string) => [
  'garbagecollector',
  ...(kind === 'ownedaccesskeys' ? ['bootstrap', 'lifecycle', 'sweep'] : []),
  ...writersOf(kind),
]

test('every function has its own role and writes only its own log', () => {
  const logs = packaged.names.map((name) => JSON.stringify(roles.statements(name)[0]))
  expect(new Set(logs).size).toBe(packaged.deployment.functions.size)
  for (const log of logs) expect(log).toContain('logs:PutLogEvents')
})

test('only the roles grant permissions, and each grants those that it lists', () => {
  const types = Object.values(packaged.resources).map(({ Type }) => Type)
  expect(types.filter((type) => type.startsWith('AWS::IAM::') && type !== 'AWS::IAM::Role')).toEqual([])
  const ofFunctions = Object.entries(packaged.resources).filter(
    ([id]) => !/^(Gateway|Rollout)/.test(id) && id.endsWith('Role'),
  )
  expect(ofFunctions).toHaveLength(packaged.names.length)
  for (const [id, { Properties }] of ofFunctions) {
    expect([id, Object.keys(Properties).sort()]).toEqual([id, ['AssumeRolePolicyDocument', 'Policies']])
    expect(JSON.stringify(Properties.AssumeRolePolicyDocument)).toContain(
      '"Principal":{"Service":"lambda.amazonaws.com"}',
    )
  }
  for (const name of packaged.names) {
    for (const statement of roles.statements(name)) {
      const members = Object.keys(statement).filter((member) => member !== 'Condition')
      expect([name, statement.Effect, members.sort()]).toEqual([name, 'Allow', ['Action', 'Effect', 'Resource']])
    }
  }
})

test('only the secrets of virtual clusters and partitions of the table are granted by pattern', () => {
  const patterns = new Set<string>()
  const insertReferences = (text: string) =>
    text.replace(/\$\{([^}]+)\}/g, (_, name: string) => refs[name as keyof typeof refs] ?? '')
  const collectPatterns = (value: unknown) => {
    if (typeof value === 'string' && /[*?]/.test(value)) patterns.add(insertReferences(value))
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) collectPatterns(one)
  }
  for (const name of packaged.names) collectPatterns(roles.statements(name))
  expect([...patterns].sort()).toEqual([
    'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/virtualclusters/*',
    'credential#*',
    'exchange#*',
    'federatedidentitycredentials#log#*',
    'federatedidentitycredentials#o#*',
    'history#*',
    'identityproviders#log#*',
    'jwks#*',
    'made#*',
    'ownedaccesskeys#log#*',
    'ownedaccesskeys#o#*',
    'owner#*',
    'provider#*',
    'signal#*',
    'told#*',
    'trial#*',
    'trust#*',
    'usage#*',
    'virtualclusterinstances#log#*',
    'watches#*',
  ])
})

test('only its own schedule may invoke a function by permission', () => {
  const permissions = Object.values(packaged.resources).filter(({ Type }) => Type === 'AWS::Lambda::Permission')
  expect(permissions.length).toBeGreaterThan(0)
  for (const { Properties } of permissions) {
    expect(Properties).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'events.amazonaws.com' })
    expect(JSON.stringify(Properties.SourceArn)).toMatch(/EventsRuleSchedule1","Arn"/)
  }
})

test('API Gateway may invoke exactly the functions that have a route, and the authorizer', () => {
  const { AssumeRolePolicyDocument, Policies, ...rest } = packaged.resources.GatewayFunctionsRole?.Properties ?? {}
  expect(rest).toEqual({})
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Principal: { Service: 'apigateway.amazonaws.com' },
      Action: 'sts:AssumeRole',
      Condition: { StringEqualsIfExists: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ])
  const [{ PolicyDocument }, ...others] = Policies
  expect(others).toEqual([])
  const { routes, functions } = packaged.deployment
  const invoked = new Set(
    routes.flatMap(({ functionId, authorizerFunctionId = '' }) => [functionId, authorizerFunctionId]),
  )
  const arns = [...functions.values()]
    .filter(({ id }) => invoked.has(id))
    .map(({ name }) => `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${name}:live`)
    .sort()
  expect(arns.length).toBeLessThan(packaged.names.length)
  expect(PolicyDocument.Statement).toEqual([
    { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: arns.map((arn) => ({ 'Fn::Sub': arn })) },
  ])
  // IAM allows 10,240 characters in the inline policies of a role.
  const longest = JSON.stringify({ ...PolicyDocument, Statement: [{ ...PolicyDocument.Statement[0], Resource: arns }] })
    .replaceAll(`\${AWS::Partition}`, 'aws-us-gov')
    .replaceAll(`\${AWS::Region}`, 'ap-southeast-1')
    .replaceAll(`\${AWS::AccountId}`, '123456789012')
    .replaceAll('-dev-', `-${'x'.repeat(13)}-`)
  expect(longest.length).toBeLessThan(10_240)
})

test('the roles grant item operations on named partitions of the table only', () => {
  const operations = every.map((operation) => `dynamodb:${operation}`)
  for (const name of packaged.names) {
    for (const { Action, Resource, Condition } of roles.statements(name)) {
      if (JSON.stringify(Resource) !== JSON.stringify({ 'Fn::GetAtt': ['Table', 'Arn'] })) continue
      expect(operations).toEqual(expect.arrayContaining([Action].flat()))
      const partitions = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []
      expect(partitions.length).toBeGreaterThan(0)
      for (const one of partitions) expect(one).toMatch(/^([a-z]+(#o|#activity|#pass|#position)?|[a-z]+#(o#|log#)?\*)$/)
    }
  }
})

test('only functions that authenticate, judge or write keys access credentials', () => {
  const keyWriters = allWritersOf('ownedaccesskeys')
  const authenticators = ['authorizer', 'reviews/tokenreview', 'selves/create']
  // They judge the key of a long request again, or that of a review.
  const lists = kinds.map((kind) => `${kind}/list`)
  const judges = [
    ...lists,
    'namespaces/list',
    'ownedaccesskeys/accessreview',
    'virtualclusterinstances/kubeconfig/create',
  ]
  // It reads the values of keys with an open rotation.
  const shows = 'ownedaccesskeys/get'
  const makers = [...writersOf('federatedidentitycredentials'), ...writersOf('identityproviders')]
  const others = [shows, 'accesskeylookups/create', 'virtualclusterinstances/deletecollection']
  expect(functionsAccessing(every, 'credential#1#x')).toEqual(
    [...new Set([...keyWriters, ...authenticators, ...makers, ...judges, ...others])].sort(),
  )
  // Others only demand that the key of their request has not changed.
  const readers = functionsAccessing(['GetItem', 'BatchGetItem'], 'credential#1#x')
  expect(
    readers.filter(
      (name) => makers.includes(name) && !keyWriters.includes(name) && !name.endsWith('/deletecollection'),
    ),
  ).toEqual([])
  expect(functionsAccessing(['PutItem', 'DeleteItem'], 'credential#1#x')).toEqual(keyWriters.sort())
})

test('functions that judge or write keys, and those that close gates, read the gates of exchanged keys', () => {
  const judges = [
    'authorizer',
    'federatedidentitycredentials/deletecollection',
    'federatedidentitycredentials/list',
    'identityproviders/deletecollection',
    'identityproviders/list',
    'ownedaccesskeys/accessreview',
    'namespaces/list',
    'ownedaccesskeys/list',
    'reviews/subjectaccessreview',
    'reviews/tokenreview',
    'selves/create',
    'virtualclusterinstances/deletecollection',
    'virtualclusterinstances/kubeconfig/create',
    'virtualclusterinstances/list',
  ]
  // A key may close the trust and the provider that it came through.
  const closers = ['federatedidentitycredentials', 'identityproviders'].flatMap((kind) =>
    ['delete', 'patch', 'update'].map((verb) => `${kind}/${verb}`),
  )
  for (const gate of ['trust#x', 'provider#x']) {
    expect(functionsAccessing(['BatchGetItem'], gate)).toEqual(
      [...judges, ...allWritersOf('ownedaccesskeys'), ...closers].sort(),
    )
    expect(functionsAccessing(['Query'], gate)).toEqual([])
  }
})

/** The functions that decide requests by the scopes of keys, and record them. */
const deciders = [
  'accesskeylookups/create',
  'accesskeyrevocations/create',
  'authorizer',
  'namespaces/patch',
  'namespaces/update',
  ...kinds.flatMap((kind) => ['create', 'patch', 'update'].map((verb) => `${kind}/${verb}`)),
  'ownedaccesskeys/accessreview',
  'ownedaccesskeys/history',
  'ownedaccesskeys/usage',
  'reviews/subjectaccessreview',
  'reviews/tokenreview',
]

/** Only these judge the trials of scopes. */
const triers = ['authorizer', 'reviews/subjectaccessreview']

test.each<[rule: string, operations: string[], partitions: string[], functions: string[]]>([
  [
    'functions that authenticate or judge trials, that for leaks and the publisher of events write signals',
    writes,
    ['signal#20261121'],
    [...triers, 'leaks', 'lifecycle', 'reviews/tokenreview', 'selves/create'],
  ],
  [
    'those that judge trials and writers of what has a scope write their marks',
    writes,
    ['trial#u'],
    [...new Set([...triers, ...allWritersOf('ownedaccesskeys'), ...allWritersOf('federatedidentitycredentials')])],
  ],
  ['functions that decide requests by scopes put what a key did', ['PutItem'], ['usage#u'], deciders],
  ['the publisher of events removes it', ['DeleteItem'], ['usage#u'], ['lifecycle']],
  ['the publisher of events marks since when it is recorded', writes, ['recording'], ['lifecycle']],
  ['nothing queries credentials', ['Query'], ['credential#1#x', 'credential'], []],
  ['nothing puts or deletes a revision', ['PutItem', 'DeleteItem'], kinds, []],
  ['writers of a trust write its gate', writes, ['trust#x'], allWritersOf('federatedidentitycredentials')],
  ['writers of a provider write its gate', writes, ['provider#x'], allWritersOf('identityproviders')],
  [
    'functions that serve watches count them',
    every,
    ['watches#x'],
    ['customresourcedefinitions/list', 'namespaces/list', ...kinds.map((kind) => `${kind}/list`)],
  ],
  ['the collector reads the owner index', reads, ['owner#x'], ['garbagecollector']],
  ['the collector has a mark of its pass', every, ['collector#pass'], ['garbagecollector']],
  ['the publisher of events moves its position', writes, ['lifecycle#position'], ['lifecycle']],
  [
    'functions that authenticate and the publisher of events write history',
    ['PutItem', 'UpdateItem'],
    ['history#u'],
    ['authorizer', 'lifecycle', 'reviews/tokenreview', 'selves/create'],
  ],
  ['the publisher of events writes families', ['PutItem', 'UpdateItem'], ['made#u'], ['lifecycle']],
  ['it removes both', ['DeleteItem'], ['history#u', 'made#u'], ['lifecycle']],
  ['one function shows history', reads, ['history#u'], ['lifecycle', 'ownedaccesskeys/history']],
  ['lists and one function show families', reads, ['made#u'], ['lifecycle', ...familyReaders]],
  ['the publisher of events finds signals', ['Query'], ['signal#20261121'], ['lifecycle']],
  ['the exchange records ID tokens and keeps keys of issuers', every, ['exchange#x', 'jwks#x'], ['oauth2/token']],
  ['nothing changes or deletes a record', ['UpdateItem', 'DeleteItem'], ['exchange#x', 'jwks#x'], []],
  ...kinds.flatMap((kind): [string, string[], string[], string[]][] => [
    [`writers of ${kind} write their rows`, writes, [`${kind}#o`], allWritersOf(kind)],
    [`rows by owner of ${kind}`, writes, [`${kind}#o#user:alice`], owned.includes(kind) ? allWritersOf(kind) : []],
    [
      `lists void slots of the log of ${kind}`,
      writes,
      [`${kind}#log#7`],
      [...allWritersOf(kind), ...listersOf(kind), `${kind}/list`, 'settle'],
    ],
    [`writers of ${kind} write its log`, ['UpdateItem', 'DeleteItem'], [`${kind}#log#7`], allWritersOf(kind)],
  ]),
])('only these functions: %s', (_, operations, partitions, functions) => {
  for (const partition of partitions)
    expect([partition, functionsAccessing(operations, partition)]).toEqual([partition, functions.toSorted()])
})

test('only who shows usage, history or families reads since when they are whole', () => {
  const shows = [
    'ownedaccesskeys/history',
    'ownedaccesskeys/usage',
    'ownedaccesskeys/list',
    'ownedaccesskeys/deletecollection',
    'lifecycle',
    'customresourcedefinitions/list',
  ]
  expect(functionsAccessing(reads, 'lifecycle#position').filter((name) => !shows.includes(name))).toEqual([])
})

test('a get may read the rows and revision of its kind only, and the credentials of keys', () => {
  for (const kind of kinds) {
    const name = `${kind}/get`
    expect(new Set(actions(name).filter((one) => one.startsWith('dynamodb:')))).toEqual(
      new Set(['dynamodb:GetItem', 'dynamodb:BatchGetItem']),
    )
    for (const partition of [kind, `${kind}#o`]) expect(functionsAccessing(reads, partition)).toContain(name)
    for (const partition of [
      ...kinds.filter((one) => one !== kind).flatMap((one) => [one, `${one}#o`]),
      `${kind}#log#1`,
      `${kind}#o#user:alice`,
      ...(kind === 'ownedaccesskeys' ? [] : ['credential#1#x']),
      'owner#x',
    ]) {
      expect(functionsAccessing(reads, partition)).not.toContain(name)
    }
  }
})

test('functions that respond from the request alone have no access to the table', () => {
  const bare = ['discovery', 'issuer', 'notfound', 'openapi']
  const namespaces = ['namespaces/create']
  for (const name of [...bare, ...namespaces, 'reviews/selfsubjectreview']) {
    expect([name, actions(name).filter((one) => one.startsWith('dynamodb:'))]).toEqual([name, []])
  }
})

test('functions that serve watches of nothing read nothing', () => {
  for (const partition of ['ownedaccesskeys', 'ownedaccesskeys#o', 'credential#1#x', 'owner#x'])
    expect(functionsAccessing(every, partition)).not.toContain('customresourcedefinitions/list')
})

test('only the sweep and the publisher of events read the index, and only those of the stream its records', () => {
  expect(functionsWith('dynamodb:Query', 'table/index/expiry')).toEqual(['lifecycle', 'sweep'])
  const reading = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']
  const readers = ['garbagecollector', 'lifecycle']
  for (const one of reading) {
    expect(functionsWith(`dynamodb:${one}`, 'stream')).toEqual(readers)
    expect(packaged.names.filter((name) => actions(name).includes(`dynamodb:${one}`))).toEqual(readers)
  }
  expect(functionsWith('sqs:SendMessage', 'queue')).toEqual(['garbagecollector'])
  expect(functionsWith('sqs:SendMessage', 'wakes')).toEqual(['lifecycle'])
})

test('only one function publishes events, on the bus of the setting', () => {
  const bus = 'arn:aws:events:eu-central-1:0:event-bus/default'
  expect(functionsWith('events:PutEvents', bus)).toEqual(['lifecycle'])
  expect(functionsWith('events:PutEvents', bus.replace('default', 'other'))).toEqual([])
  expect(packaged.names.filter((name) => actions(name).some((one) => one.startsWith('events:')))).toEqual(['lifecycle'])
})

test('the exchange reads trusts and providers, and writes neither', () => {
  for (const partition of ['federatedidentitycredentials#o', 'identityproviders#o']) {
    expect(functionsAccessing(['BatchGetItem'], partition)).toContain('oauth2/token')
    expect(functionsAccessing(writes, partition)).not.toContain('oauth2/token')
  }
})

test('only functions that issue tokens may sign', () =>
  expect(functionsWith('kms:Sign', 'key')).toEqual([
    'directclusterendpointtokens/create',
    'virtualclusterinstances/kubeconfig/create',
  ]))

test('only functions that need a secret read it, and only bootstrap writes secrets', () => {
  const get = 'secretsmanager:GetSecretValue'
  expect(functionsWith(get, 'pepper')).toEqual([
    'accesskeylookups/create',
    'authorizer',
    'bootstrap',
    'leaks',
    'oauth2/revoke',
    'oauth2/token',
    'ownedaccesskeys/create',
    'ownedaccesskeys/patch',
    'ownedaccesskeys/rotate',
    'ownedaccesskeys/update',
    'reviews/tokenreview',
    'selves/create',
  ])
  expect(functionsWith(get, 'access-key')).toEqual(['bootstrap'])
  const cluster = 'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/virtualclusters/p-a/one-AbCdEf'
  expect(functionsWith(get, cluster)).toEqual(['virtualclusterinstances/kubeconfig/create'])
  expect(packaged.names.filter((name) => actions(name).includes('secretsmanager:PutSecretValue'))).toEqual([
    'bootstrap',
  ])
})
