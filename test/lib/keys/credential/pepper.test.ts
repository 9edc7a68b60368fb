import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createPeppers, parsePeppers } from '../../../../lib/keys/credential/pepper.ts'

const A = Buffer.alloc(32, 'a').toString('base64')
const B = Buffer.alloc(33, 'b').toString('base64')
const secret = (current: unknown, peppers: unknown, more = {}) => JSON.stringify({ current, peppers, ...more })

describe('parsePeppers', () => {
  test('returns the current pepper first, then the newest', () => {
    const order = (current: string) =>
      parsePeppers(secret(current, { 1: A, 2: B, 10: A })).map(({ version }) => version)
    expect(order('2')).toEqual(['2', '10', '1'])
    expect(order('10')).toEqual(['10', '2', '1'])
  })

  const bad: [string, string][] = [
    ['no JSON', `{"current": "${A}`],
    ['null', 'null'],
    ['a list', '[]'],
    ['an unknown current', secret('3', { 1: A })],
    ['no current', secret(undefined, { 1: A })],
    ['a current that is no text', secret(1, { 1: A })],
    ['no peppers', secret('1', {})],
    ['peppers as a list', secret('0', [A])],
    ['another member', secret('1', { 1: A }, { note: 'x' })],
    ['a version that is no number', secret('v1', { v1: A })],
    ['version 0', secret('0', { 0: A })],
    ['a version named like a member of every object', '{"current":"__proto__","peppers":{"__proto__":{}}}'],
    ['a short pepper', secret('1', { 1: Buffer.alloc(31).toString('base64') })],
    ['an empty pepper', secret('1', { 1: '' })],
    ['a pepper that is not base64', secret('1', { 1: `${A}!` })],
    ['a pepper in base64url', secret('1', { 1: Buffer.alloc(33, 0xff).toString('base64url') })],
    ['a pepper that is no text', secret('1', { 1: 5 })],
    ['too many', secret('1', Object.fromEntries(Array.from({ length: 9 }, (_, index) => [index + 1, A])))],
  ]
  test.each(bad)('rejects %s without quoting it', (_, text) => {
    const error = (() => {
      try {
        parsePeppers(text)
      } catch (thrown) {
        return thrown as Error
      }
    })()
    expect(error).toBeInstanceOf(Error)
    expect(error?.message).not.toContain(A.slice(0, 8))
    expect(error?.cause).toBeUndefined()
  })
})

describe('hashes', () => {
  const setup = () => {
    const world = { now: 0, asked: 0, secret: secret('1', { 1: A }), fail: false }
    const peppers = createPeppers({
      now: () => world.now,
      getSecret: async () => {
        world.asked++
        if (world.fail) throw new Error('down')
        return world.secret
      },
    })
    return { world, peppers }
  }

  test('are HMAC-SHA-256 for each version', async () => {
    const { world, peppers } = setup()
    world.secret = secret('2', { 1: A, 2: B })
    const hash = (pepper: string) =>
      createHmac('sha256', Buffer.from(pepper, 'base64')).update('key').digest('base64url')
    expect(await peppers.hashes('key')).toEqual([
      { version: '2', hash: hash(B) },
      { version: '1', hash: hash(A) },
    ])
  })

  test('use a pepper for five minutes, and for an hour if it cannot be fetched', async () => {
    const { world, peppers } = setup()
    await peppers.hashes('a')
    world.now = 299_999
    world.secret = secret('2', { 2: B })
    expect(await peppers.hashes('a')).toMatchObject([{ version: '1' }])
    world.now = 300_000
    expect(await peppers.hashes('a')).toMatchObject([{ version: '2' }])
    world.fail = true
    world.now += 3_599_999
    expect(await peppers.hashes('a')).toMatchObject([{ version: '2' }])
    expect([await peppers.hashes('a'), world.asked]).toMatchObject([[{ version: '2' }], 3])
    world.now += 10_000
    await expect(peppers.hashes('a')).rejects.toThrow('down')
  })
})
