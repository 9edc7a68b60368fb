/** Serves the real package without AWS services: public paths respond, all others return a Status. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../../infra/local/gateway/gateway.ts'
import { captureLog } from '../../support/deployment.ts'
import { noResources } from '../../support/noresources.ts'
import { packaged } from '../../support/packaged.ts'

const base = '/kubernetes/management'
let gateway: Gateway
const release = captureLog([])

beforeAll(async () => {
  const { bundles } = await packaged()
  gateway = await startGateway({
    bundlesDir: bundles,
    environment: noResources,
    unscheduled: true,
  })
})
afterAll(() => gateway.close().finally(release))

test.each(['/version', '/healthz'])('%s requires no key', async (path) => {
  const response = await fetch(`${gateway.url}${base}${path}`)
  expect(response.status).toBe(200)
})

test.each(['/apis', '/apis/management.platform/v1/ownedaccesskeys', '/nothing', '/../..', ''])(
  '%s returns a 401 Status without a key',
  async (path) => {
    const response = await fetch(`${gateway.url}${base}${path}`)
    expect(response.status).toBe(401)
    expect(response.headers.get('audit-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await response.json()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: expect.stringContaining('no bearer token'),
      reason: 'Unauthorized',
      code: 401,
    })
  },
)
