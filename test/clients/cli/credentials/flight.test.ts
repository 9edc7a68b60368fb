/** Credentials that many programs share: one request, whatever happens to the programs and the clock. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cachedCredential } from '../../../../clients/cli/src/credentials/flight.ts'
import { CliError } from '../../../../clients/cli/src/io/errors.ts'
import { leaveLock } from '../../../support/locks.ts'
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
  // threat: plugin-7
  test('send one request, and both get its answer', async () => {
    flights.holdFor(1)
    const first = flights.run()
    await Promise.race([flights.asked(), first])
    expect(await Promise.all([first, flights.run()])).toEqual([quiet('token-1'), quiet('token-1')])
    expect(flights.requests()).toBe(1)
    expect(await flights.files()).toEqual([expect.stringMatching(HASH)])
  })
})

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
    /** What each program says. */
    notes?: RegExp
    /** Seconds since the start of the test. */
    at?: number
    /** The server answers when so many programs wait for another one, or when so many requests have arrived. */
    until?: { waiting: number } | { requested: number }
  }

  /** Runs programs with clocks of their own. Returns what each gets, and how many milliseconds each has waited. */
  async function runMany(count: number, { at = 0, until = { waiting: 0 }, notes = /^$/ }: Many = {}) {
    const { promise: released, resolve } = Promise.withResolvers<void>()
    let isReleased = false
    const release = () => {
      isReleased = true
      resolve()
    }
    const waits = Array.from({ length: count }, () => 0)
    const from = requests
    const check = () => {
      const waiting = waits.filter((one) => one > 0).length
      if ('waiting' in until ? waiting >= until.waiting : requests - from >= until.requested) release()
    }
    const one = async (_: unknown, index: number) => {
      const clock = givenClock((milliseconds) => {
        waits[index] = (waits[index] ?? 0) + milliseconds
        check()
      })
      const now = () => new Date(clock.now().getTime() + at * 1000)
      // Nobody waits too long for programs that a busy machine has not started yet, or for its files once the server has answered.
      const elapsed = () => ('waiting' in until || isReleased ? 0 : clock.elapsed())
      const { io, said } = testIo({ env: { HOME: home }, ...clock, now, elapsed })
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
      expect(said).toEqual({ out: '', err: expect.stringMatching(notes) })
      return got instanceof Error ? got : (got as { token: string }).token
    }
    return { got: await Promise.all(Array.from({ length: count }, one)), waits }
  }
  test('one sends a request to renew it', async () => {
    await runMany(1)
    const { got } = await runMany(10, { at: 730, until: { waiting: 9 } })
    expect([new Set(got), requests]).toEqual([new Set(['token-2']), 2])
  })

  // threat: plugin-7
  test('all use an old one after one request when the server is not available', async () => {
    await runMany(1)
    error = new CliError('The server is not available.', { unavailable: true })
    const { got } = await runMany(10, { at: 730, until: { waiting: 9 }, notes: /: The server is not available\.\n$/ })
    expect([new Set(got), requests]).toEqual([new Set(['token-1']), 2])
  })

  test('each is refused when the server refuses', async () => {
    error = new CliError('access key is disabled', { exitCode: 4, hint: 'Log in again.' })
    const { got } = await runMany(3, { until: { waiting: 2 } })
    expect(got).toEqual([error, error, error])
  })

  test('each sends one of its own when the first one takes longer than 5 s', async () => {
    const { got, waits } = await runMany(3, { until: { requested: 3 } })
    expect(got.toSorted()).toEqual(['token-1', 'token-2', 'token-3'])
    expect(waits.map((one) => Math.floor(one / 1000)).toSorted()).toEqual([0, 5, 5])
  })

  // threat: plugin-7
  test('one follows a process that was killed', async () => {
    await runMany(1)
    const [entry = ''] = await readdir(folder)
    await rm(join(folder, entry))
    await leaveLock(join(folder, entry.replace('.json', '.lock')))
    const { got } = await runMany(4)
    expect([new Set(got), requests]).toEqual([new Set(['token-2']), 2])
    expect(await readdir(folder)).toEqual([expect.stringMatching(HASH)])
  })
})
