/** Least privilege: what no role of the packaged template may do. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { type Deployment, readTemplate } from '../../infra/local/template.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { type Roles, readRoles } from './roles.ts'

const root = join(import.meta.dirname, '../..')
const refs = {
  ApiGatewayRestApi: 'api',
  Table: 'table',
  'Table.Arn': 'table',
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
const kinds = ['ownedaccesskeys', 'virtualclusterinstances'] as const
const reads = ['GetItem', 'BatchGetItem', 'Query']
const writes = ['PutItem', 'UpdateItem', 'DeleteItem']
const writeVerbs = ['create', 'delete', 'deletecollection', 'patch', 'update']

let names: string[]
let roles: Roles
let deployment: Deployment
beforeAll(async () => {
  const { template } = await ensurePackaged({ quiet: true })
  const text = await readFile(template, 'utf8')
  deployment = readTemplate(text, { refs, region: 'eu-central-1', account: '0' })
  roles = readRoles(text, deployment, refs)
  names = await functionNames(root)
}, 120_000)

const actions = (name: string) => roles.statements(name).flatMap(({ Action }) => Action)
const those = (action: string, resource: string) => names.filter((name) => roles.allows(name, { action, resource }))
const touching = (operations: readonly string[], partition: string) =>
  names.filter((name) =>
    operations.some((one) =>
      roles.allows(name, { action: `dynamodb:${one}`, resource: 'table', partitions: [partition] }),
    ),
  )
const writersOf = (kind: string) => writeVerbs.map((verb) => `${kind}/${verb}`)

test('every function has a role of its own and writes its own log', () => {
  const logs = names.map((name) => JSON.stringify(roles.statements(name)[0]))
  expect(new Set(logs).size).toBe(deployment.functions.size)
  for (const log of logs) expect(log).toContain('logs:PutLogEvents')
})

test('no statement is for every action, and only ListStreams is for every resource', () => {
  for (const name of names) {
    for (const { Action, Resource } of roles.statements(name)) {
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([])
      if (Resource === '*') expect([name, Action]).toEqual(['garbagecollector', 'dynamodb:ListStreams'])
    }
  }
})

test('the table is granted by item operations on named partitions only', () => {
  const operations = [...reads, ...writes].map((operation) => `dynamodb:${operation}`)
  for (const name of names) {
    for (const { Action, Resource, Condition } of roles.statements(name)) {
      if (JSON.stringify(Resource) !== JSON.stringify({ 'Fn::GetAtt': ['Table', 'Arn'] })) continue
      expect(operations).toEqual(expect.arrayContaining([Action].flat()))
      const partitions = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []
      expect(partitions.length).toBeGreaterThan(0)
      for (const one of partitions) expect(one).toMatch(/^([a-z]+(#o|#activity)?|[a-z]+#(o#|log#)?\*)$/)
    }
  }
})

test('only what authenticates and what writes keys touches credentials', () => {
  const keyWriters = ['bootstrap', 'garbagecollector', ...writersOf('ownedaccesskeys'), 'sweep']
  const authenticators = ['authorizer', 'reviews/tokenreview']
  expect(touching([...reads, ...writes], 'credential#1#x')).toEqual([...keyWriters, ...authenticators].sort())
  expect(touching(['PutItem', 'DeleteItem'], 'credential#1#x')).toEqual(keyWriters.sort())
})

test('credentials cannot be queried', () => {
  expect(touching(['Query'], 'credential#1#x')).toEqual([])
  expect(touching(['Query'], 'credential')).toEqual([])
})

test.each(kinds)('only writers of %s touch their rows for writing', (kind) => {
  const own = kind === 'ownedaccesskeys' ? ['bootstrap', 'sweep'] : []
  const expected = ['garbagecollector', ...own, ...writersOf(kind)].sort()
  expect(touching(writes, `${kind}#o`)).toEqual(expected)
  expect(touching(writes, `${kind}#o#user:alice`)).toEqual(kind === 'ownedaccesskeys' ? expected : [])
})

test.each(kinds)('the log of %s is written by writers, and voided by lists', (kind) => {
  const own = kind === 'ownedaccesskeys' ? ['bootstrap', 'sweep'] : []
  const writers = ['garbagecollector', ...own, ...writersOf(kind)]
  expect(touching(writes, `${kind}#log#7`)).toEqual([...writers, `${kind}/list`, 'settle'].sort())
  expect(touching(['UpdateItem', 'DeleteItem'], `${kind}#log#7`)).toEqual(writers.sort())
})

test.each(kinds)('the revision of %s is never put nor deleted', (kind) => {
  expect(touching(['PutItem', 'DeleteItem'], kind)).toEqual([])
})

test('a get reads rows of its kind and how far it has got, and nothing else', () => {
  for (const kind of kinds) {
    const other = kinds.find((one) => one !== kind)
    const name = `${kind}/get`
    expect(actions(name).filter((one) => one.startsWith('dynamodb:'))).toEqual([
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
    ])
    for (const partition of [kind, `${kind}#o`]) expect(touching(reads, partition)).toContain(name)
    for (const partition of [
      `${other}#o`,
      `${other}`,
      `${kind}#log#1`,
      `${kind}#o#user:alice`,
      'credential#1#x',
      'owner#x',
    ]) {
      expect(touching(reads, partition)).not.toContain(name)
    }
  }
})

test('what answers from the request alone has no table', () => {
  const bare = ['directclusterendpointtokens/create', 'discovery', 'issuer', 'notfound', 'openapi', 'selves/create']
  for (const name of [...bare, 'reviews/selfsubjectreview']) {
    expect([name, actions(name).filter((one) => one.startsWith('dynamodb:'))]).toEqual([name, []])
  }
})

test('only the sweep reads the index, only the collector the stream and who owns what', () => {
  expect(those('dynamodb:Query', 'table/index/expiry')).toEqual(['sweep'])
  expect(names.filter((name) => actions(name).includes('dynamodb:GetRecords'))).toEqual(['garbagecollector'])
  expect(touching(reads, 'owner#x')).toEqual(['garbagecollector'])
})

test('only what makes tokens signs', () => {
  expect(those('kms:Sign', 'key')).toEqual([
    'directclusterendpointtokens/create',
    'virtualclusterinstances/kubeconfig/create',
  ])
})

test('secrets are read by those who need them, and written by bootstrap', () => {
  const get = 'secretsmanager:GetSecretValue'
  expect(those(get, 'pepper')).toEqual([
    'authorizer',
    'bootstrap',
    'ownedaccesskeys/create',
    'ownedaccesskeys/patch',
    'ownedaccesskeys/update',
    'reviews/tokenreview',
  ])
  expect(those(get, 'access-key')).toEqual(['bootstrap'])
  const cluster = 'arn:aws:secretsmanager:eu-central-1:0:secret:keyplane/dev/virtualclusters/p-a/one-AbCdEf'
  expect(those(get, cluster)).toEqual(['virtualclusterinstances/kubeconfig/create'])
  expect(names.filter((name) => actions(name).includes('secretsmanager:PutSecretValue'))).toEqual(['bootstrap'])
})
