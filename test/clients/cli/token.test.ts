/** `keyplane token`: tokens on standard output, and in files that it keeps up to date. */

import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { patience } from '../../support/patience.ts'
import { useAlice } from './alice.ts'
import { says } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import { useFront } from './front.ts'

const { server, cli, key, makeKey, patchKey } = useAlice()
const west = ['token', '--cluster', 'west']
const file = () => join(cli.home, 'token')
const read = () => readFile(file(), 'utf8')
const lifeOf = (token: string): number => {
  const { exp = 0, iat = 0 } = decodeJwt(token)
  return exp - iat
}

describe('a token', () => {
  test('is all that is printed', async () => {
    const text = await cli.ok([...west, '--ttl', '1h'])
    expect(text).toMatch(/^eyJ[\w.-]+$/)
    expect((await cli.run(west, { isTerminal: true })).stdout).toMatch(/^eyJ[\w.-]+\n$/)
    expect(lifeOf(text.trim())).toBe(3600)
    expect(lifeOf((await cli.ok(['token', '--virtual-cluster', 'demo/demo'])).trim())).toBe(900)
  })

  test('is printed with its expiry in other formats', async () =>
    expect(JSON.parse(await cli.ok([...west, '-o', 'json']))).toEqual({
      token: expect.stringMatching(/^eyJ/),
      expirationTimestamp: expect.any(String),
    }))

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
    [[...west, '--ttl', '0s'], '--ttl must be more than 0'],
    [[...west, '--out', '/dev/null'], '/dev/null is not a regular file'],
    [[...west, '--out', '-'], '- is not a file.'],
  ])('is not printed by %j', async (args, message) => expect(await cli.run(args)).toMatchObject(says(2, message, '')))
})

describe('a token that is renewed', () => {
  const front = useFront(server)
  beforeEach(() => {
    front.act = () => false
  })

  /** Starts the command with a clock that goes on only when a wait is over. `waits` has the waits so far, in seconds. */
  const start = async (more: Record<string, string | undefined> = {}) => {
    const waits: number[] = []
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) }
    const clock = givenClock((milliseconds) => void waits.push(milliseconds / 1000))
    const running = cli.begin([...west, '--ttl', '60s', '--out', file(), '--renew'], {
      env: { ...env, ...more },
      clock,
    })
    await running.until(/^The token in /)
    return { ...running, waits }
  }
  const change = (old: string) => vi.waitFor(async () => expect(await read()).not.toBe(old), patience)

  test('is replaced in its file until the process gets SIGTERM', async () => {
    const running = await start()
    const first = await read()
    await change(first)
    // 80 % of its minute, in turns that notice when the machine was suspended.
    const [one, two, three, last = 0] = running.waits
    expect([one, two, three, Math.round(last)]).toEqual([15, 15, 15, expect.toBeOneOf([2, 3])])
    await change(await read())
    running.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stdout: '' })
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

  // threat: plugin-5
  test('is no longer renewed when the server refuses, which ends the process', async () => {
    const running = await start()
    await patchKey({ disabled: true })
    expect(await running.ended).toMatchObject(says(4, 'Error: access key is disabled'))
  })

  test('is that of the key that the context has by then', async () => {
    const other = await makeKey()
    const keyFile = await cli.write('key', key.value)
    const running = await start({ KEYPLANE_KEY: undefined, KEYPLANE_KEY_FILE: keyFile })
    // Renamed, so that the command never reads a part of it.
    await rename(await cli.write('next', other.value), keyFile)
    const used = () => server.log.map((line) => JSON.parse(line)).filter((one) => one.key === other.name)
    await expect.poll(() => used().length).toBeGreaterThan(0)
    running.kill('SIGTERM')
    await running.ended
  })
})
