import { expect, test } from 'vitest'
import { StartupError } from '../../../infra/local/host/startuperror.ts'
import { readSettings } from '../../../infra/local/settings.ts'
import cases from './vectors/settings.cases.json' with { type: 'json' }

const uid = '5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11'

test.each([
  [false, {}, { port: 8443, dataDir: '/project/.local', memory: false }],
  [false, { PORT: '', DATA_DIR: '' }, { port: 8443, dataDir: '/project/.local', memory: false }],
  [false, { STAGE: 'prod2' }, { port: 8443, stage: 'prod2', dataDir: '/project/.local', memory: false }],
  [false, { STAGE: '' }, { port: 8443, dataDir: '/project/.local', memory: false }],
  [
    false,
    { SIGNING_KEYS: '2-rsa,1' },
    { port: 8443, dataDir: '/project/.local', memory: false, signingKeys: '2-rsa,1' },
  ],
  [true, { PORT: '0', DATA_DIR: 'data' }, { port: 0, dataDir: '/project/data', memory: true }],
  [
    false,
    {
      PORT: '65535',
      DATA_DIR: '/var/data',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
      KUBEBUILDER_ASSETS: 'k',
    },
    {
      port: 65535,
      dataDir: '/var/data',
      memory: false,
      dynamodb: 'http://127.0.0.1:8000',
      kubebuilderAssets: '/project/k',
    },
  ],
  [
    false,
    {
      CONSOLE_ISSUER: 'https://login.example',
      CONSOLE_CLIENT_ID: 'keyplane',
      CONSOLE_CREDENTIAL: `staff@${uid}`,
      CONSOLE_SCOPES: '',
    },
    {
      port: 8443,
      dataDir: '/project/.local',
      memory: false,
      console: {
        CONSOLE_ISSUER: 'https://login.example',
        CONSOLE_CLIENT_ID: 'keyplane',
        CONSOLE_CREDENTIAL: `staff@${uid}`,
      },
    },
  ],
])('readSettings with memory %j accepts %j', (memory, environment, settings) => {
  expect(readSettings({ memory }, environment, '/project')).toEqual(settings)
})

test.each(cases.refused as [Record<string, string>, string][])('readSettings refuses %j', (environment, sentence) => {
  expect(() => readSettings({ memory: false }, environment, '/project')).toThrow(new StartupError(sentence))
})

test('a real virtual cluster is refused on Windows, which has no shell to guard its processes', () => {
  const read = (platform: NodeJS.Platform) =>
    readSettings({ memory: false }, { KUBEBUILDER_ASSETS: '/k' }, '/project', platform)
  expect(read('darwin').kubebuilderAssets).toBe('/k')
  expect(() => read('win32')).toThrow(StartupError)
})
