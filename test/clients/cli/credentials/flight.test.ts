/** Credentials that many programs share: one request, whatever happens to the programs and the clock. */
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cachedCredential } from '../../../../clients/cli/src/credentials/flight.ts'
import { CliError } from '../../../../clients/cli/src/io/errors.ts'
import { createFlights, type Flights } from './flights.ts'
import { givenClock, testIo } from './testio.ts'

const HASH = /^[0-9a-f]{64}\.json$/

describe('two processes that need a credential at the same time', () => {
  let flights: Flights
  beforeEach(async () => {
    flights = await createFlights()
  })
  afterEach(() => flights.stop())
  const quiet = (stdout: string) => ({ code: 0, stdout, stderr: '' })

  // The second one starts when the first one has asked, and waits only for its answer. It would ask itself after 5 s.
  test('send one request, and both get its answer', async () => {
    flights.holdFor(1)
    const first = flights.run()
    await Promise.race([flights.asked(), first])
    expect(await Promise.all([first, flights.run()])).toEqual([quiet('token-1'), quiet('token-1')])
    expect(flights.requests()).toBe(1)
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })
})

const holder = () => ({ pid: process.pid, host: hostname() })

/** Replaces the only entry by a lock that was written so many milliseconds ago. */
async function replaceByLock(folder: string, text: string, age = 0): Promise<void> {
  const [entry = ''] = await readdir(folder)
  await rm(join(folder, entry))
  const file = join(folder, entry.replace('.json', '.lock'))
  await writeFile(file, text, { mode: 0o600 })
  const at = new Date(Date.now() - age)
  await utimes(file, at, at)
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

  test.each<[string, object | undefined, number]>([
    ['has an ID that no process has', { pid: 2 ** 22 + 1 }, 0],
    ['has an ID that a process has that started later', { started: '1' }, 0],
    ['has an ID that a process of another user has by now', { pid: 1, started: '1' }, 0],
    ['took the lock more than 30 s ago', {}, 31_000],
    ['took it on another machine more than 30 s ago', { host: 'other' }, 31_000],
    ['took the lock by a clock that was ahead', {}, -3_600_000],
    ['had not written its lock', undefined, 600],
  ])('one follows a process that was killed and %s', async (_, more, age) => {
    await runMany(1)
    await replaceByLock(folder, more ? JSON.stringify({ ...holder(), ...more }) : '', age)
    const { got } = await runMany(4)
    expect([new Set(got), requests]).toEqual([new Set(['token-2']), 2])
    expect(await readdir(folder)).toEqual([expect.stringMatching(HASH)])
  })

  test.each([
    ['this machine', {}],
    ['another machine', { host: 'other' }],
  ])('each asks for itself after 5 s, beside the lock of a process on %s that lives', async (_, more) => {
    await runMany(1)
    await replaceByLock(folder, JSON.stringify({ ...holder(), ...more }))
    expect(await runMany(1)).toEqual({ got: ['token-2'], waits: [lockTurns] })
    expect(await readdir(folder)).toHaveLength(2)
  })
})
