import { expect, test } from 'vitest'
import { UsageError } from '../../../infra/command.ts'
import { variablesOf } from '../../../infra/local/gateway/environment.ts'
import { StartupError } from '../../../infra/local/host/startuperror.ts'
import { deploymentSettings, readSettings } from '../../../infra/local/settings.ts'
import { readValues } from '../../../infra/settings/values.ts'
import cases from './vectors/settings.cases.json' with { type: 'json' }

const byDefault = { port: 8443, dataDir: '/project/.local', memory: false, parameters: {} }

test.each([
  [false, {}, byDefault],
  [false, { PORT: '', DATA_DIR: '' }, byDefault],
  [false, { STAGE: 'prod2' }, { ...byDefault, stage: 'prod2' }],
  [false, { STAGE: '' }, byDefault],
  [true, { PORT: '0', DATA_DIR: 'data' }, { ...byDefault, port: 0, dataDir: '/project/data', memory: true }],
  [
    false,
    {
      PORT: '65535',
      DATA_DIR: '/var/data',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
      KUBEBUILDER_ASSETS: 'k',
    },
    {
      ...byDefault,
      port: 65535,
      dataDir: '/var/data',
      dynamodb: 'http://127.0.0.1:8000',
      kubebuilderAssets: '/project/k',
    },
  ],
])('readSettings with memory %j accepts %j', (memory, environment, settings) => {
  expect(readSettings({ memory }, {}, environment, '/project')).toEqual(settings)
})

test.each(cases.refused as [Record<string, string>, string][])('readSettings refuses %j', (environment, sentence) => {
  expect(() => readSettings({ memory: false }, {}, environment, '/project')).toThrow(new StartupError(sentence))
})

const parametersOf = (given: Record<string, string>, environment: Record<string, string> = {}) =>
  readSettings({ memory: false }, given, environment, '/project').parameters

test('a setting of a deployment is an option or a variable, and an empty variable is none', () => {
  const environment = { SIGNING_KEYS: '2-rsa,1', THROTTLE_RATE: '6', CONSOLE_ISSUER: '', DOMAIN: 'a.example' }
  expect(parametersOf({ 'throttle-rate': '5', 'max-key-ttl-seconds': '3600' }, environment)).toEqual({
    ThrottleRate: '5',
    SigningKeys: '2-rsa,1',
    MaxKeyTtlSeconds: '3600',
  })
})

test.each(Object.entries(deploymentSettings))('%s is refused in the words of a deployment', (name, variable) => {
  const refusalOf = (read: () => unknown) => {
    try {
      read()
    } catch (error) {
      return error
    }
    return undefined
  }
  const wrong = '\n'
  const refusal = refusalOf(() => readValues([`${name}=${wrong}`]))
  expect(refusal).toBeInstanceOf(UsageError)
  expect((refusal as Error).message).toMatch(`the setting ${name} must be `)
  expect(refusalOf(() => parametersOf({ [name]: wrong }))).toEqual(refusal)
  expect(refusalOf(() => parametersOf({}, { [variable]: wrong }))).toEqual(refusal)
})

test('settings that a deployment takes only together are refused alone', () => {
  expect(() => parametersOf({}, { CONSOLE_ISSUER: 'https://login.example' })).toThrow(
    new UsageError('the setting console-issuer requires console-client-id'),
  )
})

test('the settings of functions become their variables', () => {
  const given = { MaxKeyTtlSeconds: '3600', ConsoleIssuer: 'https://login.example', ThrottleRate: '5' }
  expect(variablesOf(given)).toEqual({ MAX_KEY_TTL_SECONDS: '3600', CONSOLE_ISSUER: 'https://login.example' })
})

test('a real virtual cluster is refused on Windows, which has no shell to guard its processes', () => {
  const read = (platform: NodeJS.Platform) =>
    readSettings({ memory: false }, {}, { KUBEBUILDER_ASSETS: '/k' }, '/project', platform)
  expect(read('darwin').kubebuilderAssets).toBe('/k')
  expect(() => read('win32')).toThrow(StartupError)
})
