import { mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  CreateSecretCommand,
  type CreateSecretCommandInput,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStored } from '../../../../infra/local/host/stored.ts'
import { type Aws, startAws } from '../../../support/aws.ts'

let aws: Aws
beforeAll(async () => {
  aws = await startAws()
})
afterAll(() => aws.stop())

const token = (letter: string): string => letter.repeat(32)
const make = (input: CreateSecretCommandInput) => aws.secrets.send(new CreateSecretCommand(input))
const create = (Name: string, SecretString = 'one') => make({ Name, SecretString, ClientRequestToken: token('1') })
const put = (SecretId: string, letter: string, SecretString: string, VersionStages?: string[]) =>
  aws.secrets.send(
    new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken: token(letter), VersionStages }),
  )
const get = (SecretId: string, VersionStage?: string, VersionId?: string) =>
  aws.secrets.send(new GetSecretValueCommand({ SecretId, VersionStage, VersionId }))
const value = async (...args: Parameters<typeof get>) => (await get(...args)).SecretString
const notFound = (what: string) => ({
  name: 'ResourceNotFoundException',
  message: `Secrets Manager can't find the specified secret${what}.`,
})

describe('GetSecretValue', () => {
  test('finds a secret by name, ARN and ARN without suffix', async () => {
    const Name = 'keyplane/local/a'
    const { ARN = '' } = await create(Name)
    expect(ARN).toMatch(/^arn:aws:secretsmanager:eu-central-1:000000000000:secret:keyplane\/local\/a-\w{6}$/)
    const found = { ARN, Name, SecretString: 'one', VersionId: token('1'), VersionStages: ['AWSCURRENT'] }
    for (const id of [Name, ARN, ARN.slice(0, -7)]) expect(await get(id)).toMatchObject(found)
  })

  test('returns binary values', async () => {
    const SecretBinary = Buffer.from([0, 255, 128])
    await make({ Name: 'binary', SecretBinary })
    const found = await get('binary')
    expect([Buffer.from(found.SecretBinary ?? []), found.SecretString]).toEqual([SecretBinary, undefined])
  })

  test.each(['none', 'constructor', '__proto__'])('does not find %s', async (SecretId) => {
    await expect(get(SecretId)).rejects.toMatchObject(notFound(''))
  })

  test('does not find a value in a secret without versions', async () => {
    await make({ Name: 'empty' })
    await expect(get('empty')).rejects.toMatchObject(notFound(' value for staging label: AWSCURRENT'))
  })
})

describe('PutSecretValue', () => {
  test('makes the value current, keeps the previous version and drops the one before', async () => {
    await create('staged')
    await put('staged', '2', 'two')
    expect(await get('staged')).toMatchObject({ SecretString: 'two', VersionStages: ['AWSCURRENT'] })
    expect(await get('staged', 'AWSPREVIOUS')).toMatchObject({ SecretString: 'one', VersionStages: ['AWSPREVIOUS'] })
    await put('staged', '3', 'three')
    expect([await value('staged'), await value('staged', 'AWSPREVIOUS')]).toEqual(['three', 'two'])
    await expect(get('staged', 'AWSPENDING')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })

  test('changes nothing when a token is repeated with its value, and refuses another value', async () => {
    await create('idempotent')
    for (let count = 0; count < 2; count++) await put('idempotent', '2', 'two')
    expect(await value('idempotent', 'AWSPREVIOUS')).toBe('one')
    await expect(put('idempotent', '2', 'other')).rejects.toMatchObject({ name: 'ResourceExistsException' })
    expect(await value('idempotent')).toBe('two')
  })

  test('accepts up to 65536 bytes, counted in UTF-8', async () => {
    await create('large', 'x'.repeat(65_536))
    expect(await value('large')).toHaveLength(65_536)
    for (const large of ['x'.repeat(65_537), 'é'.repeat(32_769)])
      await expect(put('large', '2', large)).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('the labels of a rotation', () => {
  const label = (SecretId: string, letter: string) => put(SecretId, letter, letter, ['AWSPENDING'])
  const stages = async (SecretId: string) =>
    (await aws.secrets.send(new DescribeSecretCommand({ SecretId }))).VersionIdsToStages
  const move = (SecretId: string, to: string, from?: string) => {
    const ids = { MoveToVersionId: token(to), RemoveFromVersionId: from && token(from) }
    return aws.secrets.send(new UpdateSecretVersionStageCommand({ SecretId, VersionStage: 'AWSCURRENT', ...ids }))
  }

  test('keep a pending version beside the current one until it becomes current', async () => {
    await create('rotating')
    await label('rotating', '2')
    expect([await value('rotating'), await value('rotating', 'AWSPENDING')]).toEqual(['one', '2'])
    await move('rotating', '2', '1')
    const moved = { [token('1')]: ['AWSPREVIOUS'], [token('2')]: ['AWSPENDING', 'AWSCURRENT'] }
    expect(await stages('rotating')).toEqual(moved)
    expect(await value('rotating', 'AWSPENDING', token('2'))).toBe('2')
  })

  test('leave a version that another one replaces as pending', async () => {
    await create('abandoned')
    for (const letter of ['2', '3']) await label('abandoned', letter)
    expect(await stages('abandoned')).toEqual({ [token('1')]: ['AWSCURRENT'], [token('3')]: ['AWSPENDING'] })
    const lost = get('abandoned', undefined, token('2'))
    await expect(lost).rejects.toMatchObject(notFound(` value for VersionId: ${token('2')}`))
  })

  test('are not taken from a version that the call does not name', async () => {
    await create('guarded')
    await label('guarded', '2')
    await expect(move('guarded', '2')).rejects.toMatchObject({ name: 'InvalidParameterException' })
    await expect(move('guarded', '9', '1')).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    expect(await value('guarded')).toBe('one')
  })

  test('go to the first version of a secret, as AWSCURRENT', async () => {
    await make({ Name: 'first' })
    await label('first', '2')
    expect(await stages('first')).toEqual({ [token('2')]: ['AWSPENDING', 'AWSCURRENT'] })
  })
})

test.each<[string, () => Promise<unknown>, string]>([
  ['a name with a space', () => make({ Name: 'a b' }), 'ValidationException'],
  ['no name', () => make({ Name: '' }), 'ValidationException'],
  ['a long name', () => make({ Name: 'x'.repeat(513) }), 'ValidationException'],
  [
    'two values',
    () => make({ Name: 'x', SecretString: 'a', SecretBinary: Buffer.from('b') }),
    'InvalidParameterException',
  ],
  ['a short token', () => make({ Name: 'x', SecretString: 'a', ClientRequestToken: 'short' }), 'ValidationException'],
  ['a name that is in use', () => create('twice').then(() => create('twice')), 'ResourceExistsException'],
  [
    'a new version without a value',
    () => make({ Name: 'v' }).then(() => aws.secrets.send(new PutSecretValueCommand({ SecretId: 'v' }))),
    'InvalidRequestException',
  ],
])('refuses %s', (_, send, name) => expect(send()).rejects.toMatchObject({ name }))

test('DeleteSecret makes the secret unreadable and unwritable, and frees its name', async () => {
  await create('deleted')
  await aws.secrets.send(new DeleteSecretCommand({ SecretId: 'deleted' }))
  await expect(get('deleted')).rejects.toMatchObject({ name: 'InvalidRequestException' })
  await expect(put('deleted', '2', 'two')).rejects.toMatchObject({ name: 'InvalidRequestException' })
  await create('deleted', 'again')
  expect(await value('deleted')).toBe('again')
})

describe('the data file', () => {
  const secretsFile = async () => join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'secrets.json')

  test('keeps secrets across a restart and is readable by its owner only', async () => {
    const secretsPath = await secretsFile()
    const first = await startAws({ secretsPath })
    await first.secrets.send(new CreateSecretCommand({ Name: 'kept', SecretString: 'one' }))
    await first.stop()
    expect((await stat(secretsPath)).mode & 0o777).toBe(0o600)
    const second = await startAws({ secretsPath })
    const kept = await second.secrets.send(new GetSecretValueCommand({ SecretId: 'kept' }))
    await second.stop()
    expect(kept.SecretString).toBe('one')
  })

  test('is refused when an earlier release wrote it, which encrypted the values', async () => {
    const secretsPath = await secretsFile()
    const version = { id: token('1'), stages: ['AWSCURRENT'], member: 'SecretString', sealed: 'AAAA' }
    const file = await openStored(secretsPath, { secrets: [{ arn: 'a', name: 'a', versions: [version] }] })
    await file.change(() => {})
    await expect(startAws({ secretsPath })).rejects.toThrow(
      `The data file ${secretsPath} was written by another release: name another folder in DATA_DIR, or remove the folder ${dirname(secretsPath)} to start afresh.`,
    )
  })
})
