import { mkdtemp, open, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { startEmbeddedDynamoDB } from '../../../../infra/local/aws/dynamodb.ts'
import { findDynoxide } from '../../../../infra/local/aws/dynoxide.ts'
import { makeResources } from '../../../../infra/local/aws/resources.ts'
import { createVerifier } from '../../../../infra/local/aws/sigv4.ts'

const platform = `${process.platform}-${process.arch}`
const region = 'eu-central-1'
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
const verify = createVerifier({ credentials, region, now: Date.now })
const common = { platform, verify }
const template = JSON.stringify({
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk', 'due'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'expiry',
            KeySchema: [{ AttributeName: 'due', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    },
    SigningKey: { Type: 'AWS::KMS::Key', Properties: { KeySpec: 'ECC_NIST_P256' } },
    Pepper: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'keyplane/dev/pepper' } },
    Role: { Type: 'AWS::IAM::Role', Properties: {} },
  },
})

const make = (dynamodb: string) =>
  makeResources(template, {
    dynamodb,
    kms: { ensureKey: async (alias, spec) => `arn:kms:key/${alias.replaceAll('/', '-')}-${spec}` },
    secrets: { ensureSecret: async (name) => `arn:secret:${name}` },
    secretPrefix: 'keyplane/local/',
    region,
    credentials,
  })

const client = (endpoint: string) => new DynamoDBClient({ endpoint, region, credentials, maxAttempts: 1 })
const item = (n: number) => ({ pk: { S: 'a' }, sk: { S: String(n) } })

describe('resources', () => {
  test('are created once and referenced by name and attribute', async () => {
    const dynamodb = await startEmbeddedDynamoDB(common)
    const refs = await make(dynamodb.url)
    expect(refs).toEqual({
      Table: 'keyplane-Table',
      'Table.Arn': 'arn:aws:dynamodb:eu-central-1:000000000000:table/keyplane-Table',
      'Table.StreamArn': 'arn:aws:dynamodb:eu-central-1:000000000000:table/keyplane-Table/stream/local',
      SigningKey: 'alias-keyplane-SigningKey-ECC_NIST_P256',
      'SigningKey.Arn': 'arn:kms:key/alias-keyplane-SigningKey-ECC_NIST_P256',
      Pepper: 'arn:secret:keyplane/local/pepper',
    })
    expect(await make(dynamodb.url)).toEqual(refs)
    await dynamodb.close()
    await expect(make(dynamodb.url)).rejects.toThrow(
      `DynamoDB at ${dynamodb.url} cannot create the table keyplane-Table: `,
    )
  })
})

describe('the embedded DynamoDB', () => {
  test('keeps every acknowledged write when it is killed', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'dynamodb.db')
    const first = await startEmbeddedDynamoDB({ path, ...common })
    const { Table } = await make(first.url)
    const writer = client(first.url)
    const acknowledged: number[] = []
    let failed = false
    const write = async (from: number) => {
      for (let n = from; !failed; n += 4) {
        try {
          await writer.send(new PutItemCommand({ TableName: Table, Item: item(n) }))
          acknowledged.push(n)
          if (acknowledged.length === 100) process.kill(-first.pid, 'SIGKILL')
        } catch {
          failed = true
        }
      }
    }
    await Promise.all([0, 1, 2, 3].map(write))
    await first.ended
    expect(acknowledged.length).toBeGreaterThanOrEqual(100)
    expect((await stat(path)).mode & 0o777).toBe(0o600)

    const second = await startEmbeddedDynamoDB({ path, ...common })
    const reader = client(second.url)
    for (const n of acknowledged) {
      const { Item } = await reader.send(new GetItemCommand({ TableName: Table, Key: item(n), ConsistentRead: true }))
      expect(Item).toEqual(item(n))
    }
    await second.close()
  })

  test.each([
    ['not a database', (path: string) => writeFile(path, 'x'.repeat(5000))],
    [
      'a database with overwritten pages',
      async (path: string) => {
        const file = await open(path, 'r+')
        await file.write(Buffer.alloc(8000, 0xaa), 0, 8000, 4096)
        await file.close()
      },
    ],
  ])('refuses a file that is %s', async (_, damage) => {
    const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'dynamodb.db')
    const sound = await startEmbeddedDynamoDB({ path, ...common })
    await make(sound.url)
    await sound.close()
    await damage(path)
    await expect(startEmbeddedDynamoDB({ path, ...common })).rejects.toThrow(`The data file ${path} is damaged: `)
  })

  test('reports failed conditions and unsupported members', async () => {
    const dynamodb = await startEmbeddedDynamoDB(common)
    const { Table: TableName } = await make(dynamodb.url)
    const writer = client(dynamodb.url)
    const absent = { TableName, Item: item(1), ConditionExpression: 'attribute_not_exists(pk)' }
    const transaction = { TransactItems: [{ Put: { TableName, Item: item(2) } }, { Put: absent }] }
    await writer.send(new TransactWriteItemsCommand(transaction))
    await expect(writer.send(new TransactWriteItemsCommand(transaction))).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    })
    await expect(writer.send(new PutItemCommand(absent))).rejects.toBeInstanceOf(ConditionalCheckFailedException)
    await expect(writer.send(new PutItemCommand({ ...absent, ReturnValues: 'SOME' as never }))).rejects.toMatchObject({
      name: 'ValidationException',
    })
    await expect(
      writer.send(new PutItemCommand({ TableName, Item: item(3), Expected: { pk: { Exists: false } } })),
    ).rejects.toThrow('The embedded DynamoDB does not support Expected.')
    writer.destroy()
    await dynamodb.close()
    await expect(client(dynamodb.url).send(new PutItemCommand(absent))).rejects.toThrow()
  })

  test('uses dynoxide from PATH when there is no package for the platform', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyplane-test-'))
    const path = `/nowhere:${folder}`
    expect(() => findDynoxide('sunos-sparc', path)).toThrow(
      /^There is no embedded DynamoDB for sunos-sparc, and no dynoxide on PATH\. Install it with "brew install .*AWS_ENDPOINT_URL_DYNAMODB\.$/,
    )
    const packaged = findDynoxide(platform, path)
    await symlink(packaged, join(folder, 'dynoxide'))
    expect(findDynoxide('sunos-sparc', path)).toBe(join(folder, 'dynoxide'))
    vi.stubEnv('PATH', `${path}:${process.env.PATH}`)
    const dynamodb = await startEmbeddedDynamoDB({ platform: 'sunos-sparc', verify })
    vi.unstubAllEnvs()
    expect(await make(dynamodb.url)).toMatchObject({ Table: 'keyplane-Table' })
    await dynamodb.close()
  })

  test('reports why the emulator does not start', () =>
    expect(startEmbeddedDynamoDB({ path: '/never/there', ...common })).rejects.toThrow(
      /^The embedded DynamoDB does not start: error: .*unable to open database file/,
    ))
})
