import { expect, test } from 'vitest'
import { createServer } from '../../../lib/server/server.ts'

test('functions that reach no virtual cluster need no secrets of virtual clusters', () => {
  const environment = { STAGE: 'dev', ISSUER: 'https://a.example', API_URL: 'https://a.example' }
  const { kubeConfigs } = createServer({ ...environment, SIGNING_KEY_IDS: 'one' })
  expect(kubeConfigs.issuer).toBe('https://a.example')
  expect(() => kubeConfigs.secretPrefix).toThrow('VIRTUAL_CLUSTER_SECRETS_PREFIX')
})
