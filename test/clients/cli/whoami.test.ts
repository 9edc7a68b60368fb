/** `keyplane whoami` against the whole API, on every Node.js of this machine that the package supports. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { type CommandLine, createCommandLine, nodes } from './commandline.ts'

let server: TestServer
let cli: CommandLine
beforeAll(async () => {
  server = await startServer()
  cli = await createCommandLine(server)
}, 120_000)
afterAll(async () => {
  await cli?.stop()
  await server?.stop()
})

describe.each(nodes)('on Node.js $version, whoami', ({ path: node }) => {
  test('prints the object with -o json', async () => {
    const self = JSON.parse(await cli.ok(['whoami', '-o', 'json'], { node }))
    expect(self.status.groups).toContain('system:masters')
  })
})
