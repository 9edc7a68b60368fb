import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  RestoreSecretCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Aws, startAws } from '../../../support/aws.ts'

let aws: Aws
let time = Date.parse('2026-11-21T12:00:00Z')
beforeAll(async () => {
  aws = await startAws({ now: () => time })
})
afterAll(() => aws.stop())

const token = (letter: string): string => letter.repeat(32)
const create = (Name: string, SecretString = 'one') =>
  aws.secrets.send(new CreateSecretCommand({ Name, SecretString, ClientRequestToken: token('1') }))
const put = (SecretId: string, letter: string, SecretString: string, VersionStages?: string[]) =>
  aws.secrets.send(
    new PutSecretValueCommand({ SecretId, SecretString, VersionStages, ClientRequestToken: token(letter) }),
  )
const get = (SecretId: string, which: { VersionStage?: string; VersionId?: string } = {}) =>
  aws.secrets.send(new GetSecretValueCommand({ SecretId, ...which }))
const stages = async (SecretId: string) =>
  (await aws.secrets.send(new DescribeSecretCommand({ SecretId }))).VersionIdsToStages

describe('values', () => {
  test('are found by name, ARN and ARN without suffix', async () => {
    const { ARN = '' } = await create('keyplane/local/a')
    expect(ARN).toMatch(/^arn:aws:secretsmanager:eu-central-1:000000000000:secret:keyplane\/local\/a-\w{6}$/)
    for (const id of ['keyplane/local/a', ARN, ARN.slice(0, -7)])
      expect(await get(id)).toMatchObject({
        ARN,
        Name: 'keyplane/local/a',
        SecretString: 'one',
        VersionId: token('1'),
        VersionStages: ['AWSCURRENT'],
        CreatedDate: new Date(time),
      })
  })

  test('may be bytes', async () => {
    const SecretBinary = Buffer.from([0, 255, 128])
    await aws.secrets.send(new CreateSecretCommand({ Name: 'binary', SecretBinary }))
    const value = await get('binary')
    expect(Buffer.from(value.SecretBinary ?? [])).toEqual(SecretBinary)
    expect(value.SecretString).toBeUndefined()
  })

  test('take 65536 bytes and no more, counted in UTF-8', async () => {
    await create('large', 'x'.repeat(65_536))
    expect((await get('large')).SecretString).toHaveLength(65_536)
    for (const value of ['x'.repeat(65_537), 'é'.repeat(32_769)])
      await expect(put('large', '2', value)).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('versions', () => {
  test('the labels move: current, previous, none', async () => {
    await create('staged')
    await put('staged', '2', 'two')
    expect(await stages('staged')).toEqual({ [token('1')]: ['AWSPREVIOUS'], [token('2')]: ['AWSCURRENT'] })
    expect((await get('staged', { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one')
    await put('staged', '3', 'three')
    expect(await stages('staged')).toEqual({ [token('2')]: ['AWSPREVIOUS'], [token('3')]: ['AWSCURRENT'] })
    expect((await get('staged', { VersionId: token('1') })).SecretString).toBe('one')
    expect((await get('staged')).SecretString).toBe('three')
  })

  test('a pending version leaves the current one alone', async () => {
    await create('pending')
    await put('pending', '2', 'two', ['AWSPENDING'])
    expect((await get('pending')).SecretString).toBe('one')
    expect((await get('pending', { VersionStage: 'AWSPENDING' })).SecretString).toBe('two')
    await put('pending', '3', 'three', ['AWSPENDING'])
    expect(await stages('pending')).toEqual({ [token('1')]: ['AWSCURRENT'], [token('3')]: ['AWSPENDING'] })
  })

  test('the first version of an empty secret is the current one whatever its labels', async () => {
    await aws.secrets.send(new CreateSecretCommand({ Name: 'empty' }))
    await expect(get('empty')).rejects.toMatchObject({
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT.",
    })
    await put('empty', '1', 'one', ['MINE'])
    expect(await stages('empty')).toEqual({ [token('1')]: ['MINE', 'AWSCURRENT'] })
  })

  test('a token is good for one value: the same again changes nothing, another is refused', async () => {
    await create('idempotent')
    await put('idempotent', '2', 'two')
    await put('idempotent', '2', 'two')
    expect(await stages('idempotent')).toEqual({ [token('1')]: ['AWSPREVIOUS'], [token('2')]: ['AWSCURRENT'] })
    await expect(put('idempotent', '2', 'other')).rejects.toMatchObject({ name: 'ResourceExistsException' })
    await expect(
      aws.secrets.send(
        new UpdateSecretCommand({
          SecretId: 'idempotent',
          SecretBinary: Buffer.from('two'),
          ClientRequestToken: token('2'),
        }),
      ),
    ).rejects.toMatchObject({ name: 'ResourceExistsException' })
    expect((await get('idempotent')).SecretString).toBe('two')
  })

  test('update changes description and value', async () => {
    const { ARN } = await create('updated')
    const described = await aws.secrets.send(new UpdateSecretCommand({ SecretId: 'updated', Description: 'why' }))
    expect(described).toMatchObject({ ARN, Name: 'updated' })
    expect(described.VersionId).toBeUndefined()
    const valued = await aws.secrets.send(new UpdateSecretCommand({ SecretId: 'updated', SecretString: 'two' }))
    expect((await get('updated')).VersionId).toBe(valued.VersionId)
    expect(await aws.secrets.send(new DescribeSecretCommand({ SecretId: 'updated' }))).toMatchObject({
      Description: 'why',
    })
  })

  test('at most 100 versions without a label are kept', async () => {
    await create('many', '0')
    for (let n = 0; n < 103; n++)
      await aws.secrets.send(
        new PutSecretValueCommand({
          SecretId: 'many',
          SecretString: `${n}`,
          ClientRequestToken: `${n}`.padStart(32, 'x'),
        }),
      )
    await expect(get('many', { VersionId: token('1') })).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    expect((await get('many', { VersionId: '101'.padStart(32, 'x') })).SecretString).toBe('101')
  })
})

describe('creation', () => {
  test('again with the same token and value is the same secret', async () => {
    const first = await create('twice')
    expect(await create('twice')).toMatchObject({ ARN: first.ARN, VersionId: first.VersionId })
    await expect(create('twice', 'other')).rejects.toMatchObject({ name: 'ResourceExistsException' })
    await expect(
      aws.secrets.send(new CreateSecretCommand({ Name: 'twice', SecretString: 'one' })),
    ).rejects.toMatchObject({ name: 'ResourceExistsException' })
  })

  test.each([
    [{ Name: 'a b' }, 'ValidationException'],
    [{ Name: '' }, 'ValidationException'],
    [{ Name: 'x'.repeat(513) }, 'ValidationException'],
    [{ Name: 'x', SecretString: 'a', SecretBinary: Buffer.from('b') }, 'InvalidParameterException'],
    [{ Name: 'x', SecretString: 'a', ClientRequestToken: 'short' }, 'ValidationException'],
  ])('%j is refused', async (input, name) => {
    await expect(aws.secrets.send(new CreateSecretCommand(input))).rejects.toMatchObject({ name })
  })
})

describe('refusals', () => {
  test.each(['none', 'constructor', '__proto__'])('%s is not found', async (SecretId) => {
    await expect(get(SecretId)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    })
  })

  test('a version and a label that do not belong together', async () => {
    await create('mismatch')
    await put('mismatch', '2', 'two')
    await expect(get('mismatch', { VersionId: token('1'), VersionStage: 'AWSCURRENT' })).rejects.toMatchObject({
      name: 'InvalidRequestException',
    })
    await expect(get('mismatch', { VersionId: token('9') })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    })
  })

  test('no value, no labels', async () => {
    await create('novalue')
    await expect(aws.secrets.send(new PutSecretValueCommand({ SecretId: 'novalue' }))).rejects.toMatchObject({
      name: 'InvalidRequestException',
    })
    await expect(put('novalue', '2', 'two', [])).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('deletion', () => {
  const remove = (SecretId: string, how = {}) => aws.secrets.send(new DeleteSecretCommand({ SecretId, ...how }))

  test('hides the secret for the recovery window, in which it can be restored and its name is taken', async () => {
    await create('deleted')
    const { DeletionDate } = await remove('deleted', { RecoveryWindowInDays: 7 })
    expect(DeletionDate).toEqual(new Date(time + 7 * 86_400_000))
    await expect(get('deleted')).rejects.toMatchObject({ name: 'InvalidRequestException' })
    await expect(put('deleted', '2', 'two')).rejects.toMatchObject({ name: 'InvalidRequestException' })
    await expect(create('deleted')).rejects.toMatchObject({ name: 'InvalidRequestException' })
    expect(await aws.secrets.send(new DescribeSecretCommand({ SecretId: 'deleted' }))).toMatchObject({
      DeletedDate: new Date(time),
    })
    await aws.secrets.send(new RestoreSecretCommand({ SecretId: 'deleted' }))
    expect((await get('deleted')).SecretString).toBe('one')
  })

  test('is final after the window', async () => {
    await create('gone')
    await remove('gone')
    time += 30 * 86_400_000
    await expect(aws.secrets.send(new RestoreSecretCommand({ SecretId: 'gone' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    })
    await create('gone', 'again')
    expect((await get('gone')).SecretString).toBe('again')
  })

  test('is final at once by force, which excludes a window', async () => {
    await create('forced')
    await expect(remove('forced', { ForceDeleteWithoutRecovery: true, RecoveryWindowInDays: 7 })).rejects.toMatchObject(
      { name: 'InvalidParameterException' },
    )
    await remove('forced', { ForceDeleteWithoutRecovery: true })
    await expect(get('forced')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })
})

describe('lists', () => {
  test('go by name, in pages, by prefix, without what is deleted', async () => {
    for (const name of ['list/c', 'list/a', 'list/b', 'list/d']) await create(name)
    await aws.secrets.send(new DeleteSecretCommand({ SecretId: 'list/d' }))
    const Filters = [{ Key: 'name' as const, Values: ['list/'] }]
    const first = await aws.secrets.send(new ListSecretsCommand({ Filters, MaxResults: 2 }))
    const second = await aws.secrets.send(new ListSecretsCommand({ Filters, NextToken: first.NextToken }))
    const names = [...(first.SecretList ?? []), ...(second.SecretList ?? [])].map(({ Name }) => Name)
    expect(names).toEqual(['list/a', 'list/b', 'list/c'])
    expect(second.NextToken).toBeUndefined()
    const all = await aws.secrets.send(new ListSecretsCommand({ Filters, IncludePlannedDeletion: true }))
    expect(all.SecretList).toHaveLength(4)
    expect(all.SecretList?.[0]?.SecretVersionsToStages).toEqual({ [token('1')]: ['AWSCURRENT'] })
  })

  test('refuse a filter that would be ignored', async () => {
    await expect(
      aws.secrets.send(new ListSecretsCommand({ Filters: [{ Key: 'tag-key', Values: ['a'] }] })),
    ).rejects.toMatchObject({ name: 'InvalidParameterException' })
  })
})

test('the file survives a restart and never shows a value', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-'))
  const paths = { kmsPath: join(folder, 'kms.json'), secretsPath: join(folder, 'secrets.json') }
  const first = await startAws(paths)
  const value = 'a value that must not be seen'
  await first.secrets.send(new CreateSecretCommand({ Name: 'kept', SecretString: value }))
  await first.stop()
  const content = await readFile(paths.secretsPath, 'utf8')
  expect(content).toContain('kept')
  expect(content).not.toContain(value)
  expect(content).not.toContain(Buffer.from(value).toString('base64').slice(0, 20))

  const second = await startAws(paths)
  const { SecretString } = await second.secrets.send(new GetSecretValueCommand({ SecretId: 'kept' }))
  await second.stop()
  expect(SecretString).toBe(value)
})
