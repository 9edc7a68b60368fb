import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectSecrets, createSecrets, SecretError } from '../../../lib/kubeconfig/secrets.ts'
import { type Aws, credentials, region, startAws } from '../../support/aws.ts'

let aws: Aws
beforeAll(async () => {
  aws = await startAws()
})
afterAll(() => aws.stop())

let made = 0
async function secret(value: string | Uint8Array): Promise<string> {
  const Name = `keyplane/test/${made++}`
  const content = typeof value === 'string' ? { SecretString: value } : { SecretBinary: value }
  await aws.secrets.send(new CreateSecretCommand({ Name, ...content }))
  return Name
}
const put = (id: string, SecretString: string) =>
  aws.secrets.send(new PutSecretValueCommand({ SecretId: id, SecretString }))

function open() {
  const state = { time: 1_000_000, calls: 0 }
  const connect = async (): Promise<SecretsManagerClient> => {
    state.calls++
    return aws.secrets
  }
  return { state, secrets: createSecrets(connect, () => state.time) }
}

describe('createSecrets', () => {
  test('caches a text for five minutes', async () => {
    const id = await secret('one')
    const { state, secrets } = open()
    expect(await secrets.get(id)).toBe('one')
    await put(id, 'two')
    state.time += 299_999
    expect(await secrets.get(id)).toBe('one')
    state.time += 1
    expect([await secrets.get(id), state.calls]).toEqual(['two', 2])
  })

  test('refreshes on demand and caches the result', async () => {
    const id = await secret('one')
    const { state, secrets } = open()
    await secrets.get(id)
    await put(id, 'two')
    expect([await secrets.refresh(id), await secrets.get(id), state.calls]).toEqual(['two', 'two', 2])
  })

  test('finds the current text, or undefined if there is none yet', async () => {
    const id = await secret('one')
    const { secrets } = open()
    await secrets.get(id)
    await put(id, 'two')
    expect([await secrets.find(id), await secrets.find('keyplane/test/nowhere')]).toEqual(['two', undefined])
  })

  test('stores a new current text, which the next read returns', async () => {
    const id = await secret('one')
    const { secrets } = open()
    await secrets.get(id)
    await secrets.put(id, 'two')
    expect(await secrets.get(id)).toBe('two')
    await expect(secrets.put('keyplane/test/nowhere', 'x')).rejects.toMatchObject({ code: 'NotFound' })
  })

  test('caches at most 500 texts', async () => {
    const state = { calls: 0 }
    const client = { send: async () => ({ SecretString: 'x' }) } as unknown as SecretsManagerClient
    const connect = async () => {
      state.calls++
      return client
    }
    const secrets = createSecrets(connect, () => 0)
    for (let i = 0; i <= 500; i++) await secrets.get(`s${i}`)
    await secrets.get('s500')
    await secrets.get('s1')
    expect(state.calls).toBe(501)
    await secrets.get('s0')
    expect(state.calls).toBe(502)
  })
})

describe('errors reveal nothing about the secret', () => {
  test('and have code NotFound if it is missing, binary or being deleted', async () => {
    const { secrets } = open()
    const gone = await secret('hunter2')
    await aws.secrets.send(new DeleteSecretCommand({ SecretId: gone, RecoveryWindowInDays: 7 }))
    for (const id of ['keyplane/test/nowhere', await secret(new Uint8Array([1])), gone]) {
      const error = await secrets.get(id).catch((reason) => reason)
      expect(error).toBeInstanceOf(SecretError)
      expect(error).toMatchObject({ code: 'NotFound', message: 'a secret could not be read' })
    }
  })

  test('and have code Unavailable if the endpoint is unreachable', async () => {
    const gone = await startAws()
    await gone.stop()
    const connect = () =>
      connectSecrets({ region, credentials, endpoint: gone.endpoints.secretsManager, maxAttempts: 1 })
    await expect(createSecrets(connect, Date.now).get('a')).rejects.toMatchObject({ code: 'Unavailable' })
  })
})
