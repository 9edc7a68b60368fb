/** Least privilege: the permissions of the roles in the packaged template. */
import { beforeAll, expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { kindRows } from '../../lib/kinds.ts'
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
/** Functions that answer GET and HEAD only. */
const readers = functions
  .filter(({ routes }) => routes.length > 0 && routes.every(({ method }) => ['GET', 'HEAD'].includes(method)))
  .map(({ path }) => path)
const outside = (found: readonly string[], allowed: readonly string[]) =>
  found.filter((name) => !allowed.includes(name))

test('every function has its own role and writes only its own log', () => {
  const logs = packaged.names.map((name) => JSON.stringify(roles.statements(name)[0]))
  expect(new Set(logs).size).toBe(packaged.deployment.functions.size)
  for (const log of logs) expect(log).toContain('logs:PutLogEvents')
})

// threat: page-6
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

// threat: deployment-10
test('only the secrets of clusters and partitions of the table are granted by pattern', () => {
  const patterns = new Set<string>()
  const insertReferences = (text: string) =>
    text.replace(/\$\{([^}]+)\}/g, (_, name: string) => refs[name as keyof typeof refs] ?? '')
  const collectPatterns = (value: unknown) => {
    if (typeof value === 'string' && /[*?]/.test(value)) patterns.add(insertReferences(value))
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) collectPatterns(one)
  }
  for (const name of packaged.names) collectPatterns(roles.statements(name))
  expect([...patterns].sort()).toEqual([
    'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/clusters/*',
    'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/virtualclusters/*',
    'bound#*',
    'clusters#log#*',
    'credential#*',
    'ended#*',
    'exchange#*',
    'federatedidentitycredentials#log#*',
    'federatedidentitycredentials#o#*',
    'history#*',
    'identityproviders#log#*',
    'jwks#*',
    'ownedaccesskeys#log#*',
    'ownedaccesskeys#o#*',
    'ownedaccesskeys#o#made:*',
    'owner#*',
    'provider#*',
    'signal#*',
    'told#*',
    'trust#*',
    'usage#*',
    'virtualclusterinstances#log#*',
    'watches#*',
  ])
})

// threat: context-1
test('only its own schedule may invoke a function by permission', () => {
  const permissions = Object.values(packaged.resources).filter(({ Type }) => Type === 'AWS::Lambda::Permission')
  expect(permissions.length).toBeGreaterThan(0)
  for (const { Properties } of permissions) {
    expect(Properties).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'events.amazonaws.com' })
    expect(JSON.stringify(Properties.SourceArn)).toMatch(/EventsRuleSchedule1","Arn"/)
  }
})

// threat: context-1
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
      for (const one of partitions)
        expect(one).toMatch(/^([a-z]+(#o|#deleted|#activity|#pass|#position)?|[a-z]+#(o#|o#made:|log#)?\*)$/)
    }
  }
})

// threat: storage-4, lookups-4
test('only functions that authenticate, judge or write keys access credentials', () => {
  const writers = functionsAccessing(['PutItem'], 'ownedaccesskeys#o')
  const authenticators = ['authorizer', 'reviews/tokenreview', 'selves/create']
  const changing = functionsAccessing(['PutItem', 'UpdateItem', 'DeleteItem'], 'credential#1#x')
  expect(outside(changing, [...writers, ...authenticators])).toEqual([])
  expect(functionsAccessing(['PutItem', 'DeleteItem'], 'credential#1#x')).toEqual(writers)
  expect(functionsAccessing(['Query'], 'credential#1#x')).toEqual([])
  // Trusts and providers are written only while the key of the request is as it was.
  const checking = functionsAccessing(['ConditionCheckItem'], 'credential#1#x')
  const gates = [...functionsAccessing(writes, 'trust#x'), ...functionsAccessing(writes, 'provider#x')]
  expect(outside(checking, [...writers, ...gates])).toEqual([])
})

test('only the function that settles the log removes rows without writing any: tombstones', () => {
  for (const kind of kinds) {
    const writers = functionsAccessing(['PutItem'], `${kind}#o`)
    expect(outside(functionsAccessing(writes, `${kind}#o`), writers)).toEqual(['settle'])
    expect(functionsAccessing(writes, `${kind}#deleted`)).toEqual(['settle'])
  }
})

test('a function that answers reads writes no object, no credential and no gate', () => {
  expect(readers.length).toBeGreaterThan(10)
  const partitions = ['credential#1#x', 'trust#x', 'provider#x', 'owner#x', 'history#u', 'exchange#x']
  for (const partition of [...kinds.flatMap((kind) => [`${kind}#o`, `${kind}#o#user:a`]), ...partitions])
    expect([partition, functionsAccessing(writes, partition).filter((name) => readers.includes(name))]).toEqual([
      partition,
      [],
    ])
})

test.each(kinds)('a function of another kind writes no %s', (kind) => {
  const others = kinds.filter((one) => one !== kind)
  const isOfOther = (name: string) => others.some((other) => name.startsWith(`${other}/`))
  const writers = functionsAccessing(writes, `${kind}#o`)
  expect(writers).toContain(`${kind}/create`)
  expect(writers.filter(isOfOther)).toEqual([])
  // Lists void slots of the log. Nothing else of it changes without an object.
  expect(outside(functionsAccessing(['UpdateItem', 'DeleteItem'], `${kind}#log#7`), writers)).toEqual([])
})

test.each<[rule: string, operations: string[], partitions: string[], functions: string[]]>([
  ['the publisher of events removes usage', ['DeleteItem'], ['usage#u'], ['lifecycle']],
  ['it marks since when it is recorded', writes, ['recording'], ['lifecycle']],
  ['nothing puts or deletes a revision', ['PutItem', 'DeleteItem'], kinds, []],
  ['nothing queries gates', ['Query'], ['trust#x', 'provider#x'], []],
  ['the collector reads the owner index', reads, ['owner#x'], ['garbagecollector']],
  ['the collector has a mark of its pass', every, ['collector#pass'], ['garbagecollector']],
  ['the publisher of events moves its position', writes, ['lifecycle#position'], ['lifecycle']],
  ['it removes history', ['DeleteItem'], ['history#u'], ['lifecycle']],
  ['one function shows history', reads, ['history#u'], ['lifecycle', 'ownedaccesskeys/history']],
  ['it looks for what ends keys otherwise', ['Query'], ['ending'], ['lifecycle']],
  [
    'these find the bound Secrets of keys',
    ['Query'],
    ['bound#u'],
    ['accesskeyrevocations/create', 'lifecycle', 'oauth2/revoke'],
  ],
  [
    'kube configs record bound Secrets, and their end is written',
    ['PutItem'],
    ['bound#u'],
    [
      'boundsecrets',
      'clusters/kubeconfig/create',
      'lifecycle',
      'oauth2/revoke',
      'oauth2/token',
      'virtualclusterinstances/kubeconfig/create',
    ],
  ],
  ['the publisher of events finds signals', ['Query'], ['signal#20261121'], ['lifecycle']],
  ['the exchange records ID tokens and keeps keys of issuers', every, ['exchange#x', 'jwks#x'], ['oauth2/token']],
  ['nothing changes or deletes a record', ['UpdateItem', 'DeleteItem'], ['exchange#x', 'jwks#x'], []],
])('only these functions: %s', (_, operations, partitions, functions) => {
  for (const partition of partitions)
    expect([partition, functionsAccessing(operations, partition)]).toEqual([partition, functions])
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
  for (const name of ['console', 'discovery', 'issuer', 'notfound', 'openapi', 'reviews/selfsubjectreview'])
    expect([name, actions(name).filter((one) => one.startsWith('dynamodb:'))]).toEqual([name, []])
})

test('only revocations and functions on a schedule read the index, and only those of the stream its records', () => {
  expect(functionsWith('dynamodb:Query', 'table/index/expiry')).toEqual([
    'accesskeyrevocations/create',
    'boundsecrets',
    'lifecycle',
    'sweep',
  ])
  const reading = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']
  const readers = ['garbagecollector', 'lifecycle']
  for (const one of reading) {
    expect(functionsWith(`dynamodb:${one}`, 'stream')).toEqual(readers)
    expect(packaged.names.filter((name) => actions(name).includes(`dynamodb:${one}`))).toEqual(readers)
  }
  expect(functionsWith('sqs:SendMessage', 'queue')).toEqual(['garbagecollector'])
  expect(functionsWith('sqs:SendMessage', 'wakes')).toEqual(['lifecycle'])
})

// threat: events-1
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

// threat: deployment-8
test('one function publishes versions, and only of functions that no rollout shifts', () => {
  const publishing = ['lambda:CreateAlias', 'lambda:PublishVersion', 'lambda:UpdateAlias']
  const having = packaged.names.filter((name) => actions(name).some((one) => one.startsWith('lambda:')))
  expect(having).toEqual(['lifecycle', 'release'])
  // It wakes another function, and changes none.
  expect(actions('lifecycle').filter((one) => one.startsWith('lambda:'))).toEqual(['lambda:InvokeFunction'])
  expect(
    functionsWith('lambda:InvokeFunction', 'arn:aws:lambda:eu-central-1:0:function:keyplane-dev-boundsecrets'),
  ).toEqual(['lifecycle'])
  const [statement, ...others] = roles.statements('release').filter(({ Action }) => String(Action).includes('lambda:'))
  expect([others, statement?.Action]).toEqual([[], publishing])
  const following = functions.filter(({ canary, unversioned }) => !canary && !unversioned)
  expect(statement?.Resource).toEqual(
    following.map(({ name }) => ({
      'Fn::Sub': `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:keyplane-dev-${name}`,
    })),
  )
})

// threat: storage-4
test('only functions that issue tokens may sign', () =>
  expect(functionsWith('kms:Sign', 'key')).toEqual([
    'clusters/kubeconfig/create',
    'directclusterendpointtokens/create',
    'oauth2/token',
    'virtualclusterinstances/kubeconfig/create',
  ]))

// threat: storage-4
test('only functions that need a secret read it, and only bootstrap writes secrets', () => {
  const get = 'secretsmanager:GetSecretValue'
  // Without it nobody can tell the key of a value.
  const peppered = functionsWith(get, 'pepper')
  const writers = functionsAccessing(writes, 'ownedaccesskeys#o')
  const others = ['accesskeylookups/create', 'authorizer', 'reviews/tokenreview', 'selves/create']
  expect(outside(peppered, [...writers, ...others])).toEqual([])
  expect(functionsWith(get, 'access-key')).toEqual(['bootstrap'])
  const cluster = 'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/virtualclusters/p-a/one-AbCdEf'
  expect(functionsWith(get, cluster)).toEqual([
    'boundsecrets',
    'oauth2/token',
    'virtualclusterinstances/kubeconfig/create',
  ])
  const connected = 'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/clusters/prod-AbCdEf'
  expect(functionsWith(get, connected)).toEqual(['boundsecrets', 'clusters/kubeconfig/create', 'oauth2/token'])
  expect(packaged.names.filter((name) => actions(name).includes('secretsmanager:PutSecretValue'))).toEqual([
    'bootstrap',
  ])
})
