/** Runs the checks of `npm run smoke` on the local gateway, which must pass all of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { throttling } from '../smoke/checks/answers.ts'
import { checks } from '../smoke/checks.ts'
import { type Client, createClient } from '../smoke/client.ts'
import { changedTemplate } from '../support/changedtemplate.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let client: Client
beforeAll(async () => {
  server = await startServer()
  client = createClient({ url: server.base, key: server.adminKey, ca: server.certificateAuthority, watchSeconds: 1 })
})
afterAll(() => server?.stop())

test.each(checks)('$name', ({ run }) => run(client))

test('the checks leave no key behind', async () => {
  const { json } = await server.call('/apis/management.platform/v1/ownedaccesskeys')
  expect(json.items.filter(({ metadata }: { metadata: { name: string } }) => /^smoke-/.test(metadata.name))).toEqual([])
})

test(throttling.name, async () => {
  const { template, remove } = await changedTemplate(({ Type, Properties }) => {
    const [settings] = Type === 'AWS::ApiGateway::Stage' ? Properties.MethodSettings : []
    if (settings) Object.assign(settings, { ThrottlingRateLimit: 1, ThrottlingBurstLimit: 10 })
  })
  const slow = await startServer({}, { template })
  try {
    await throttling.run(createClient({ url: slow.base, key: slow.adminKey, ca: slow.certificateAuthority }))
  } finally {
    await slow.stop()
    await remove()
  }
})
