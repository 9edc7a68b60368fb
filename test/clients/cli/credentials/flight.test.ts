/** Credentials that many processes share: one request, whatever happens to the processes and the clock. */
import { chown, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFlights, type FlightOptions, type Flights } from './flights.ts'

let flights: Flights
beforeEach(async () => {
  flights = await createFlights()
})
afterEach(() => flights.stop())

const HASH = /^[0-9a-f]{64}\.json$/
const quiet = (stdout: unknown) => ({ code: 0, stdout, stderr: '' })
describe('processes that need a credential at the same time', () => {
  test('send one request, and all get its answer', async () => {
    flights.hold({ waiting: 29 })
    const ran = await flights.runMany(30)
    expect(ran).toEqual(ran.map(() => quiet('token-1')))
    expect(flights.requests()).toBe(1)
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })

  test('send one request to renew it', async () => {
    await flights.run()
    flights.hold({ waiting: 9 })
    const ran = await flights.runMany(10, { ahead: 730 })
    expect(ran).toEqual(ran.map(() => quiet('token-2')))
  })

  test.each([
    { code: 503 as const, error: { code: 1, stdout: '', stderr: 'The server is not available.|\n' } },
    { code: 403 as const, error: { code: 4, stdout: '', stderr: 'access key is disabled|Log in again.\n' } },
  ])('all fail with one request when it is a $code', async ({ code, error }) => {
    flights.answer(code)
    flights.hold({ waiting: 11 })
    const ran = await flights.runMany(12)
    expect(ran).toEqual(ran.map(() => error))
    expect(flights.requests()).toBe(1)
  })

  test('send requests of their own when the first one takes longer than 5 s', async () => {
    flights.hold({ requested: 3 })
    const ran = await flights.runMany(3)
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(ran.map(() => [0, '']))
    expect(flights.requests()).toBe(3)
  })
})

describe('a process that is killed', () => {
  test('before any of its steps costs the others one request at most', async () => {
    let killAt = 0
    for (let killed = true; killed; ) {
      killAt++
      // The credential of the round before is due now.
      const ahead = killAt * 730
      killed = (await flights.run({ killAt, ahead })).code === null
      flights.requests()
      const ran = await flights.runMany(2, { ahead })
      const [one] = ran
      expect([killAt, ran]).toEqual([killAt, ran.map(() => quiet(one?.stdout))])
      const requests = flights.requests()
      const locks = (await flights.files()).filter((name) => name.endsWith('.lock'))
      // A lock that is left behind where nobody needs it is removed by the next request.
      const expected = killed
        ? [
            [0, expect.anything()],
            [1, []],
          ]
        : [[0, []]]
      expect([killAt, expected]).toEqual([killAt, expect.arrayContaining([[requests, locks]])])
    }
    expect(killAt).toBeGreaterThan(20)
  }, 120_000)

  const holder = { id: 'a', pid: process.pid, host: hostname(), at: Date.now() }
  test.each([
    ['has an ID that no process has', { ...holder, pid: 2 ** 22 + 1 }],
    ['has an ID that a process has that started later', { ...holder, started: '1' }],
    ['has an ID that a process of another user has', { ...holder, pid: 1 }],
    ['took the lock more than 30 s ago', { ...holder, at: holder.at - 31_000 }],
    ['took the lock on another machine more than 30 s ago', { ...holder, host: 'other', at: holder.at - 31_000 }],
    ['took the lock by a clock that was ahead', { ...holder, at: holder.at + 3_600_000 }],
    ['had not written its lock', ''],
  ])('is followed by one of those that wait for it if it %s', async (_, text) => {
    await writeLock(flights, text, { unprivileged: true })
    const ran = await flights.runMany(4, { unprivileged: true })
    expect(ran).toEqual(ran.map(() => quiet('token-2')))
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })

  test('is not one that lives: after 5 s the others ask for themselves, beside its lock', async () => {
    const elsewhere = await createFlights()
    try {
      await writeLock(flights, { ...holder, at: Date.now() })
      await writeLock(elsewhere, { ...holder, host: 'other', at: Date.now() })
      const ran = await Promise.all([flights.run(), elsewhere.run()])
      expect(ran).toEqual([quiet('token-2'), quiet('token-2')])
      expect(await flights.files()).toHaveLength(2)
      expect(await elsewhere.files()).toHaveLength(2)
    } finally {
      await elsewhere.stop()
    }
  })
})

/** Replaces the only entry by a lock. */
async function writeLock(of: Flights, holder: object | string, options: FlightOptions = {}): Promise<void> {
  await of.run(options)
  const [entry = ''] = await of.files()
  const { uid, gid } = await stat(join(of.folder, entry))
  await rm(join(of.folder, entry))
  const file = join(of.folder, entry.replace('.json', '.0.lock'))
  await writeFile(file, typeof holder === 'string' ? holder : JSON.stringify(holder), { mode: 0o600 })
  await chown(file, uid, gid)
}
