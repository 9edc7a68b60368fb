/** `keyplane token`: tokens on standard output, and in files that it keeps up to date. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type DemoCluster, startDemoCluster } from '../../support/democluster.ts'
import { accessKey, keys } from '../../support/objects.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import { type Front, startFront } from './front.ts'

let server: TestServer
let cluster: DemoCluster
let cli: CommandLine
let key: { name: string; value: string }
let made = 0
beforeAll(async () => {
  server = await startServer({}, { unthrottled: true })
  cluster = await startDemoCluster(server)
}, 120_000)
afterAll(async () => {
  await cluster?.close()
  await server?.stop()
})
beforeEach(async () => {
  const { metadata, spec } = await server.make(keys, accessKey(`token-${++made}`, { user: 'alice' }))
  key = { name: metadata.name, value: spec.key }
  cli = await createCommandLine(server, key.value)
})
afterEach(() => cli.stop())

const west = ['token', '--cluster', 'west']
const file = () => join(cli.home, 'run', 'token')
const read = () => readFile(file(), 'utf8')
const lifeOf = (token: string): number => {
  const { exp = 0, iat = 0 } = decodeJwt(token)
  return exp - iat
}

describe('a token', () => {
  test('is all that is printed', async () => {
    const text = await cli.ok([...west, '--ttl', '1h'])
    expect(text).toMatch(/^eyJ[\w.-]+\n$/)
    expect(lifeOf(text.trim())).toBe(3600)
    expect(lifeOf((await cli.ok(['token', '--virtual-cluster', 'demo/demo'])).trim())).toBe(900)
  })

  test('is printed with its expiry in other formats', async () => {
    expect(JSON.parse(await cli.ok([...west, '-o', 'json']))).toEqual({
      token: expect.stringMatching(/^eyJ/),
      expirationTimestamp: expect.any(String),
    })
  })

  test('is written to a file that only this user can read', async () => {
    const { code, stdout, stderr } = await cli.run([...west, '--out', file()])
    expect([code, stdout, stderr]).toEqual([0, '', `The token in ${file()} lives 15m.\n`])
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(await read()).toMatch(/^eyJ[\w.-]+$/)
  })

  test.each([
    [['token'], 'needs --virtual-cluster or --cluster'],
    [[...west, '--renew'], '--renew needs --out FILE'],
    [[...west, '--out', 'x', '-o', 'json'], 'excludes --out'],
    [[...west, '--out', '/dev/null'], '/dev/null is no regular file'],
  ])('is not printed by %j', async (args, message) => {
    const { code, stdout, stderr } = await cli.run(args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  })
})

describe('a token that is renewed', () => {
  let front: Front
  beforeEach(async () => {
    front = await startFront(server)
  })
  afterEach(() => front.stop())

  const start = async () => {
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) }
    const running = cli.start([...west, '--ttl', '3s', '--out', file(), '--renew'], { env })
    await running.until(/^The token in /)
    return running
  }
  const change = (old: string) =>
    vi.waitFor(async () => expect(await read()).not.toBe(old), { timeout: 20_000, interval: 50 })

  test('is replaced in its file until the process gets SIGTERM', async () => {
    const running = await start()
    const first = await read()
    await change(first)
    await change(await read())
    running.kill('SIGTERM')
    const { code, stdout } = await running.ended
    expect([code, stdout]).toEqual([0, ''])
    expect(await read()).toMatch(/^eyJ/)
  })

  test('stays while the server does not answer, and is renewed when it does again', async () => {
    const running = await start()
    front.act = () => true
    await running.until(/but was not renewed: .+ Trying again in \d+s\.\n/)
    const old = await read()
    front.act = () => false
    await change(old)
    await running.until(/is renewed again/)
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  test('is no longer renewed when the server refuses, which ends the process', async () => {
    const running = await start()
    await server.call(`${keys}/${key.name}`, {
      method: 'PATCH',
      body: { spec: { disabled: true } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    const { code, stderr } = await running.ended
    expect([code, stderr]).toEqual([4, expect.stringContaining('Error: access key is disabled')])
  })

  test('is that of the key that the context has by then', async () => {
    const other = await server.make(keys, accessKey(`token-${++made}`, { user: 'alice' }))
    const keyFile = await cli.write('key', key.value)
    const env = {
      KEYPLANE_URL: front.base,
      KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority),
      KEYPLANE_KEY: undefined,
      KEYPLANE_KEY_FILE: keyFile,
    }
    const running = cli.start([...west, '--ttl', '3s', '--out', file(), '--renew'], { env })
    await running.until(/^The token in /)
    await cli.write('key', other.spec.key)
    await change(await read())
    running.kill('SIGTERM')
    await running.ended
    const used = server.log.map((line) => JSON.parse(line)).filter((one) => one.key === other.metadata.name)
    expect(used.length).toBeGreaterThan(0)
  })
})
