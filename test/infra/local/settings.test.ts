import { expect, test } from 'vitest'
import { readSettings } from '../../../infra/local/settings.ts'
import { StartupError } from '../../../infra/local/startuperror.ts'

test.each([
  [[], {}, { port: 8443, dataDir: '/project/.local', memory: false }],
  [[], { PORT: '', DATA_DIR: '' }, { port: 8443, dataDir: '/project/.local', memory: false }],
  [['--memory'], { PORT: '0', DATA_DIR: 'data' }, { port: 0, dataDir: '/project/data', memory: true }],
  [
    [],
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
      dynamodbEndpoint: 'http://127.0.0.1:8000',
      kubebuilderAssets: '/project/k',
    },
  ],
])('%j with %j', (args, environment, settings) => {
  expect(readSettings(args, environment, '/project')).toEqual(settings)
})

test.each([
  [['--keep'], {}, 'The only option is --memory, which keeps nothing: npm start -- --memory.'],
  [['here'], {}, 'The only option is --memory, which keeps nothing: npm start -- --memory.'],
  [['--memory=no'], {}, 'The only option is --memory, which keeps nothing: npm start -- --memory.'],
  [[], { PORT: '65536' }, 'PORT must be a number from 0 to 65535.'],
  [[], { PORT: '-1' }, 'PORT must be a number from 0 to 65535.'],
  [[], { PORT: '8443x' }, 'PORT must be a number from 0 to 65535.'],
  [[], { AWS_ENDPOINT_URL_DYNAMODB: '127.0.0.1:8000' }, 'AWS_ENDPOINT_URL_DYNAMODB must be an http or https address.'],
  [[], { AWS_ENDPOINT_URL_DYNAMODB: 'localhost:8000' }, 'AWS_ENDPOINT_URL_DYNAMODB must be an http or https address.'],
])('%j with %j is refused', (args, environment, sentence) => {
  expect(() => readSettings(args, environment, '/project')).toThrow(new StartupError(sentence))
})
