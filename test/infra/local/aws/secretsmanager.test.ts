import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Aws, startAws } from '../../../support/aws.ts'

let aws: Aws
beforeAll(async () => {
  aws = await startAws()
})
afterAll(() => aws.stop())

const token = (letter: string): string => letter.repeat(32)
const create = (Name: string, SecretString = 'one') =>
  aws.secrets.send(new CreateSecretCommand({ Name, SecretString, ClientRequestToken: token('1') }))
const put = (SecretId: string, letter: string, SecretString: string) =>
  aws.secrets.send(new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken: token(letter) }))
const get = (SecretId: string, VersionStage?: string) =>
  aws.secrets.send(new GetSecretValueCommand({ SecretId, VersionStage }))

describe('GetSecretValue', () => {
  test('finds a secret by name, ARN and ARN without suffix', async () => {
    const { ARN = '' } = await create('keyplane/local/a')
    expect(ARN).toMatch(/^arn:aws:secretsmanager:eu-central-1:000000000000:secret:keyplane\/local\/a-\w{6}$/)
    for (const id of ['keyplane/local/a', ARN, ARN.slice(0, -7)])
      expect(await get(id)).toMatchObject({
        ARN,
        Name: 'keyplane/local/a',
        SecretString: 'one',
        VersionId: token('1'),
        VersionStages: ['AWSCURRENT'],
      })
  })

  test('returns binary values', async () => {
    const SecretBinary = Buffer.from([0, 255, 128])
    await aws.secrets.send(new CreateSecretCommand({ Name: 'binary', SecretBinary }))
    const value = await get('binary')
    expect(Buffer.from(value.SecretBinary ?? [])).toEqual(SecretBinary)
    expect(value.SecretString).toBeUndefined()
  })

  test.each(['none', 'constructor', '__proto__'])('does not find %s', async (SecretId) => {
    await expect(get(SecretId)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret.",
    })
  })

  test('does not find a value in a secret without versions', async () => {
    await aws.secrets.send(new CreateSecretCommand({ Name: 'empty' }))
    await expect(get('empty')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT.",
    })
  })
})

describe('PutSecretValue', () => {
  test('makes the value current, keeps the previous version and drops the one before', async () => {
    await create('staged')
    await put('staged', '2', 'two')
    expect(await get('staged')).toMatchObject({ SecretString: 'two', VersionStages: ['AWSCURRENT'] })
    expect(await get('staged', 'AWSPREVIOUS')).toMatchObject({ SecretString: 'one', VersionStages: ['AWSPREVIOUS'] })
    await put('staged', '3', 'three')
    expect((await get('staged')).SecretString).toBe('three')
    expect((await get('staged', 'AWSPREVIOUS')).SecretString).toBe('two')
    await expect(get('staged', 'AWSPENDING')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })

  test('changes nothing when a token is repeated with its value, and refuses another value', async () => {
    await create('idempotent')
    await put('idempotent', '2', 'two')
    await put('idempotent', '2', 'two')
    expect((await get('idempotent', 'AWSPREVIOUS')).SecretString).toBe('one')
    await expect(put('idempotent', '2', 'other')).rejects.toMatchObject({ name: 'ResourceExistsException' })
    expect((await get('idempotent')).SecretString).toBe('two')
  })

  test('accepts up to 65536 bytes, counted in UTF-8', async () => {
    await create('large', 'x'.repeat(65_536))
    expect((await get('large')).SecretString).toHaveLength(65_536)
    for (const value of ['x'.repeat(65_537), 'é'.repeat(32_769)])
      await expect(put('large', '2', value)).rejects.toMatchObject({ name: 'ValidationException' })
  })

  test('refuses a call without a value', async () => {
    await create('novalue')
    await expect(aws.secrets.send(new PutSecretValueCommand({ SecretId: 'novalue' }))).rejects.toMatchObject({
      name: 'InvalidRequestException',
    })
  })
})

describe('the labels of a rotation', () => {
  const label = (SecretId: string, letter: string, VersionStages: string[]) =>
    aws.secrets.send(
      new PutSecretValueCommand({ SecretId, SecretString: letter, ClientRequestToken: token(letter), VersionStages }),
    )
  const stages = async (SecretId: string) =>
    (await aws.secrets.send(new DescribeSecretCommand({ SecretId }))).VersionIdsToStages
  const move = (SecretId: string, to: string, from?: string) =>
    aws.secrets.send(
      new UpdateSecretVersionStageCommand({
        SecretId,
        VersionStage: 'AWSCURRENT',
        MoveToVersionId: token(to),
        ...(from && { RemoveFromVersionId: token(from) }),
      }),
    )

  test('keep a pending version beside the current one until it becomes current', async () => {
    await create('rotating')
    await label('rotating', '2', ['AWSPENDING'])
    expect((await get('rotating')).SecretString).toBe('one')
    expect((await get('rotating', 'AWSPENDING')).SecretString).toBe('2')
    await move('rotating', '2', '1')
    expect(await stages('rotating')).toEqual({
      [token('1')]: ['AWSPREVIOUS'],
      [token('2')]: ['AWSPENDING', 'AWSCURRENT'],
    })
    const pending = new GetSecretValueCommand({
      SecretId: 'rotating',
      VersionId: token('2'),
      VersionStage: 'AWSPENDING',
    })
    expect((await aws.secrets.send(pending)).SecretString).toBe('2')
  })

  test('leave a version that another one replaces as pending', async () => {
    await create('abandoned')
    await label('abandoned', '2', ['AWSPENDING'])
    await label('abandoned', '3', ['AWSPENDING'])
    expect(await stages('abandoned')).toEqual({ [token('1')]: ['AWSCURRENT'], [token('3')]: ['AWSPENDING'] })
    const lost = new GetSecretValueCommand({ SecretId: 'abandoned', VersionId: token('2') })
    await expect(aws.secrets.send(lost)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: `Secrets Manager can't find the specified secret value for VersionId: ${token('2')}.`,
    })
  })

  test('are not taken from a version that the call does not name', async () => {
    await create('guarded')
    await label('guarded', '2', ['AWSPENDING'])
    await expect(move('guarded', '2')).rejects.toMatchObject({ name: 'InvalidParameterException' })
    await expect(move('guarded', '9', '1')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    expect((await get('guarded')).SecretString).toBe('one')
  })

  test('go to the first version of a secret, as AWSCURRENT', async () => {
    await aws.secrets.send(new CreateSecretCommand({ Name: 'first' }))
    await label('first', '2', ['AWSPENDING'])
    expect(await stages('first')).toEqual({ [token('2')]: ['AWSPENDING', 'AWSCURRENT'] })
  })
})

describe('CreateSecret', () => {
  test('refuses a name that is in use', async () => {
    await create('twice')
    await expect(create('twice')).rejects.toMatchObject({ name: 'ResourceExistsException' })
  })

  test.each([
    [{ Name: 'a b' }, 'ValidationException'],
    [{ Name: '' }, 'ValidationException'],
    [{ Name: 'x'.repeat(513) }, 'ValidationException'],
    [{ Name: 'x', SecretString: 'a', SecretBinary: Buffer.from('b') }, 'InvalidParameterException'],
    [{ Name: 'x', SecretString: 'a', ClientRequestToken: 'short' }, 'ValidationException'],
  ])('refuses %j', async (input, name) => {
    await expect(aws.secrets.send(new CreateSecretCommand(input))).rejects.toMatchObject({ name })
  })
})

describe('DeleteSecret', () => {
  test('makes the secret unreadable and unwritable, and frees its name', async () => {
    await create('deleted')
    await aws.secrets.send(new DeleteSecretCommand({ SecretId: 'deleted' }))
    await expect(get('deleted')).rejects.toMatchObject({ name: 'InvalidRequestException' })
    await expect(put('deleted', '2', 'two')).rejects.toMatchObject({ name: 'InvalidRequestException' })
    await create('deleted', 'again')
    expect((await get('deleted')).SecretString).toBe('again')
  })
})

test('the data file keeps secrets across a restart and never contains a value in plain text', async () => {
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
