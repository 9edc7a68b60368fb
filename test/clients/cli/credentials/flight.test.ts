/** Credentials that many programs share: one request, whatever happens to the programs and the clock. */
import { chown, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cachedCredential } from '../../../../clients/cli/src/credentials/flight.ts'
import { CliError } from '../../../../clients/cli/src/io/errors.ts'
import { createFlights, type FlightOptions, type Flights } from './flights.ts'
import { givenClock, testIo } from './testio.ts'

const HASH = /^[0-9a-f]{64}\.json$/

describe('processes that need a credential at the same time', () => {
  let flights: Flights
  beforeEach(async () => {
    flights = await createFlights()
  })
  afterEach(() => flights.stop())
  const quiet = (stdout: string) => ({ code: 0, stdout, stderr: '' })

  test('send one request, and all get its answer', async () => {
    flights.holdFor(9)
    const ran = await flights.runMany(10)
    expect(ran).toEqual(ran.map(() => quiet('token-1')))
    expect(flights.requests()).toBe(1)
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })

  test('follow the lock of a process ID that a process of another user has by now', async () => {
    const nobody: FlightOptions = { unprivileged: true }
    await flights.run(nobody)
    await replaceByLock(flights.folder, { ...holder(), pid: 1 })
    const ran = await flights.runMany(2, nobody)
    expect(ran).toEqual(ran.map(() => quiet('token-2')))
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })
})

const holder = () => ({ id: 'a', pid: process.pid, host: hostname(), at: Date.now() })

/** Replaces the only entry by a lock of the same owner. */
async function replaceByLock(folder: string, text: object | string): Promise<void> {
  const [entry = ''] = await readdir(folder)
  const { uid, gid } = await stat(join(folder, entry))
  await rm(join(folder, entry))
  const file = join(folder, entry.replace('.json', '.0.lock'))
  await writeFile(file, typeof text === 'string' ? text : JSON.stringify(text), { mode: 0o600 })
  await chown(file, uid, gid)
}

describe('of programs that need a credential at the same time', () => {
  let home: string
  let folder: string
  let requests: number
  /** How the server answers: with another token each time, or with an error. */
  let error: CliError | undefined
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'keyplane-flight-'))
    folder = join(home, '.cache', 'keyplane')
    requests = 0
    error = undefined
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  interface Many {
    /** Seconds since the start of the test. */
    at?: number
    /** The server answers when so many programs wait for another one, or when so many requests have arrived. */
    until?: { waiting: number } | { requested: number }
  }

  /** Runs programs with clocks of their own. Returns what each gets, and how often each has waited. */
  async function runMany(count: number, { at = 0, until = { waiting: 0 } }: Many = {}) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const waits = Array.from({ length: count }, () => 0)
    const from = requests
    const check = () => {
      const waiting = waits.filter((times) => times > 0).length
      if ('waiting' in until ? waiting >= until.waiting : requests - from >= until.requested) release()
    }
    const one = async (_: unknown, index: number) => {
      const clock = givenClock(() => {
        waits[index] = (waits[index] ?? 0) + 1
        check()
      })
      const now = () => new Date(clock.now().getTime() + at * 1000)
      const { io, said } = testIo({ env: { HOME: home }, ...clock, now })
      const issue = async () => {
        const token = `token-${++requests}`
        check()
        await released
        if (error) throw error
        return {
          credential: { token, expirationTimestamp: new Date(now().getTime() + 900_000).toISOString() },
          seconds: 900,
        }
      }
      const owner = { server: 'https://keys.example.com', key: 'key' }
      const got = await cachedCredential(io, { owner, target: 'demo', issue }).catch((failure: unknown) => failure)
      expect(said).toEqual({ out: '', err: '' })
      return got instanceof Error ? got : (got as { token: string }).token
    }
    return { got: await Promise.all(Array.from({ length: count }, one)), waits }
  }
  const lockTurns = 125

  test('one sends a request to renew it', async () => {
    await runMany(1)
    const { got } = await runMany(10, { at: 730, until: { waiting: 9 } })
    expect([new Set(got), requests]).toEqual([new Set(['token-2']), 2])
  })

  test.each([
    new CliError('The server is not available.', { unavailable: true }),
    new CliError('access key is disabled', { exitCode: 4, hint: 'Log in again.' }),
  ])('all fail with one request when it ends with: $message', async (given) => {
    error = given
    const { got } = await runMany(12, { until: { waiting: 11 } })
    const { message, hint, exitCode, unavailable } = given
    for (const one of got) expect(one).toMatchObject({ message, hint, exitCode, unavailable })
    expect(requests).toBe(1)
  })

  test('each sends one of its own when the first one takes longer than 5 s', async () => {
    const { got, waits } = await runMany(3, { until: { requested: 3 } })
    expect([got.toSorted(), waits.toSorted()]).toEqual([
      ['token-1', 'token-2', 'token-3'],
      [0, lockTurns, lockTurns],
    ])
  })

  test.each([
    ['has an ID that no process has', () => ({ ...holder(), pid: 2 ** 22 + 1 })],
    ['has an ID that a process has that started later', () => ({ ...holder(), started: '1' })],
    ['took the lock more than 30 s ago', () => ({ ...holder(), at: Date.now() - 31_000 })],
    ['took it on another machine more than 30 s ago', () => ({ ...holder(), host: 'other', at: Date.now() - 31_000 })],
    ['took the lock by a clock that was ahead', () => ({ ...holder(), at: Date.now() + 3_600_000 })],
    ['had not written its lock', () => ''],
  ])('one follows a process that was killed and %s', async (_, text) => {
    await runMany(1)
    await replaceByLock(folder, text())
    const { got } = await runMany(4)
    expect([new Set(got), requests]).toEqual([new Set(['token-2']), 2])
    expect(await readdir(folder)).toEqual([expect.stringMatching(HASH)])
  })

  test.each([
    ['this machine', {}],
    ['another machine', { host: 'other' }],
  ])('each asks for itself after 5 s, beside the lock of a process on %s that lives', async (_, more) => {
    await runMany(1)
    await replaceByLock(folder, { ...holder(), ...more })
    expect(await runMany(1)).toEqual({ got: ['token-2'], waits: [lockTurns] })
    expect(await readdir(folder)).toHaveLength(2)
  })
})
