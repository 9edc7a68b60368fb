/** Tests the secrets over both places that store their texts: Secrets Manager, which an emulator speaks for, and this process. */
import { CreateSecretCommand, DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSecretStore } from '../../../infra/local/aws/secrets.ts'
import { type LocalSecrets, openTexts, SECRETS } from '../../../lib/clusters/localsecrets.ts'
import { createSecrets, SecretError, type SecretTexts } from '../../../lib/clusters/secrets.ts'
import { connectSecrets, secretsManagerTexts } from '../../../lib/clusters/secretsmanager.ts'
import { provide } from '../../../lib/engine/meta/provided.ts'
import { type Aws, credentials, region, startAws } from '../../support/aws.ts'

let aws: Aws
let client: SecretsManagerClient
beforeAll(async () => {
  aws = await startAws()
  client = new SecretsManagerClient({ region, credentials, maxAttempts: 1, endpoint: aws.url })
})
afterAll(() => {
  client.destroy()
  return aws.stop()
})

interface Place {
  texts(called: () => void): SecretTexts
  set(name: string, text?: string): Promise<unknown>
}

const inSecretsManager = async (): Promise<Place> => ({
  texts: (called) =>
    secretsManagerTexts(async () => {
      called()
      return client
    }),
  set: async (name, text) => aws.setSecret(name, text),
})

async function inThisProcess(): Promise<Place> {
  const store = await openSecretStore(undefined, 'arn:secret:')
  const texts = (called: () => void) => {
    const restore = provide<LocalSecrets>(SECRETS, store)
    const opened = openTexts(called)
    restore()
    return opened
  }
  return { texts, set: (name, text) => (text === undefined ? store.ensureSecret(name) : store.setText(name, text)) }
}

let made = 0
const newName = () => `keyplane/test/${made++}`
const nowhere = 'keyplane/test/nowhere'
const notFound = { name: 'SecretError', code: 'NotFound', message: 'a secret could not be read' }

function open(place: Pick<Place, 'texts'>) {
  const state = { time: 1_000_000, calls: 0 }
  const texts = place.texts(() => void state.calls++)
  return {
    state,
    secrets: createSecrets(
      () => texts,
      () => state.time,
    ),
  }
}

describe.each([
  ['Secrets Manager', inSecretsManager],
  ['this process', inThisProcess],
])('the secrets of %s', (_, start) => {
  let place: Place
  beforeAll(async () => {
    place = await start()
  })
  async function secret(text?: string): Promise<string> {
    const name = newName()
    await place.set(name, text)
    return name
  }

  test('are kept for five minutes', async () => {
    const id = await secret('one')
    const { state, secrets } = open(place)
    expect(await secrets.get(id)).toBe('one')
    await place.set(id, 'two')
    state.time += 299_999
    expect(await secrets.get(id)).toBe('one')
    state.time += 1
    expect([await secrets.get(id), state.calls]).toEqual(['two', 2])
  })

  test('are refreshed on demand', async () => {
    const id = await secret('one')
    const { state, secrets } = open(place)
    await secrets.get(id)
    await place.set(id, 'two')
    expect([await secrets.refresh(id), await secrets.get(id), state.calls]).toEqual(['two', 'two', 2])
  })

  test('are found, or undefined if there is no text yet', async () => {
    const id = await secret('one')
    const { secrets } = open(place)
    await secrets.get(id)
    await place.set(id, 'two')
    const found = [await secrets.find(id), await secrets.find(nowhere), await secrets.find(await secret())]
    expect(found).toEqual(['two', undefined, undefined])
  })

  test('have a new current text once it is stored, by name and by ARN', async () => {
    const id = await secret()
    const arn = String(await place.set(id))
    const { secrets } = open(place)
    await secrets.put(arn, 'öne')
    expect(await secrets.get(id)).toBe('öne')
    await secrets.put(id, 'two')
    expect([await secrets.get(id), await secrets.read(arn)]).toEqual(['two', 'two'])
  })

  test('that are missing have code NotFound, and reveal nothing', async () => {
    const { secrets } = open(place)
    const errors = [secrets.get(nowhere), secrets.put(nowhere, 'hunter2')].map((one) => one.catch((error) => error))
    for (const error of await Promise.all(errors)) {
      expect(error).toBeInstanceOf(SecretError)
      expect(error).toMatchObject(notFound)
    }
  })
})

test('at most 500 texts are kept', async () => {
  const texts: SecretTexts = { read: async () => 'x', put: async () => {} }
  let calls = 0
  const secrets = createSecrets(
    () => {
      calls++
      return texts
    },
    () => 0,
  )
  for (let i = 0; i <= 500; i++) await secrets.get(`s${i}`)
  await secrets.get('s500')
  await secrets.get('s1')
  expect(calls).toBe(501)
  await secrets.get('s0')
  expect(calls).toBe(502)
})

// threat: storage-9
describe('errors reveal nothing about the secret', () => {
  test('and have code NotFound if it is binary or being deleted', async () => {
    const { secrets } = open(await inSecretsManager())
    const [gone, binary] = [newName(), newName()]
    aws.setSecret(gone, 'hunter2')
    await client.send(new DeleteSecretCommand({ SecretId: gone, RecoveryWindowInDays: 7 }))
    await client.send(new CreateSecretCommand({ Name: binary, SecretBinary: new Uint8Array([1]) }))
    for (const id of [binary, gone]) {
      const error = await secrets.get(id).catch((reason) => reason)
      expect(error).toBeInstanceOf(SecretError)
      expect(error).toMatchObject(notFound)
    }
  })

  test('and have code Unavailable if the endpoint is unreachable', async () => {
    const gone = await startAws()
    await gone.stop()
    const connect = () => connectSecrets({ region, credentials, endpoint: gone.url, maxAttempts: 1 })
    const { secrets } = open({ texts: () => secretsManagerTexts(connect) })
    await expect(secrets.get('a')).rejects.toMatchObject({ code: 'Unavailable' })
  })

  test('and have code Unavailable if this process cannot read or write', async () => {
    const broken = async () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'ENOSPC' }))
    const restore = provide<LocalSecrets>(SECRETS, { read: broken, put: broken })
    const { secrets } = open({ texts: openTexts })
    restore()
    for (const one of [secrets.get('a'), secrets.put('a', 'hunter2')])
      await expect(one).rejects.toMatchObject({ code: 'Unavailable', message: 'a secret could not be read' })
  })
})
