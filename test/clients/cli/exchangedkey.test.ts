/** Contexts without a stored key: the key that an ID token was exchanged for is kept, because the token can be exchanged only once. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Federation, startFederation } from '../../support/federation.ts'
import { keys } from '../../support/objects.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'

let server: TestServer
let federation: Federation
let client: string
let cli: CommandLine
let tokenFile: string
beforeAll(async () => {
  server = await startServer({}, { unthrottled: true })
  federation = await startFederation(server, { scope: { projects: [{ project: '*' }] } })
  client = await federation.trust('shop-deploy', { ttl: 1800 })
}, 120_000)
afterAll(async () => {
  await federation?.close()
  await server?.stop()
})
beforeEach(async () => {
  cli = await createCommandLine()
  tokenFile = await cli.write('id-token', federation.sign({}))
  const context = {
    server: server.base,
    certificateAuthorityData: Buffer.from(server.certificateAuthority).toString('base64'),
    exchange: { clientID: client, tokenFile },
  }
  const config = JSON.stringify({ currentContext: 'job', contexts: { job: context } })
  env = { KEYPLANE_CONFIG: await cli.write('config.json', config) }
})
afterEach(() => cli.stop())
let env: Record<string, string>

const nameOfKey = async (): Promise<string> => (await cli.ok(['whoami', '-o', 'name'], { env })).trim()

describe('the key of an exchange', () => {
  test('serves all commands, also at once, as long as the ID token is the same', async () => {
    const names = await Promise.all(Array.from({ length: 5 }, nameOfKey))
    expect(new Set(names).size).toBe(1)
    const { token } = JSON.parse(await cli.ok(['credential'], { env })).status
    expect(token).toMatch(/^mpk_/)
    await cli.write('id-token', `${federation.sign({})}\n`)
    expect(await nameOfKey()).not.toBe(names[0])
  })

  test('is forgotten when the server refuses it', async () => {
    const name = await nameOfKey()
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    expect((await cli.run(['whoami'], { env })).code).toBe(4)
    expect(await readdir(join(cli.home, '.cache', 'keyplane'))).toEqual([])
    // The ID token is used up.
    const { code, stderr } = await cli.run(['whoami'], { env })
    expect([code, stderr]).toEqual([4, expect.stringContaining('has been exchanged already')])
  })
})
