/** Kills processes that share a credential before each of their steps. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFlights, type Flights } from './flights.ts'

let flights: Flights
beforeEach(async () => {
  flights = await createFlights()
})
afterEach(() => flights.stop())

// threat: plugin-7
test('a process that is killed before any of its steps costs the others one request at most', async () => {
  let killAt = 0
  for (let killed = true; killed; ) {
    killAt++
    // The credential of the round before is due now.
    const ahead = killAt * 730
    killed = (await flights.run({ killAt, ahead })).code === null
    flights.requests()
    const ran = await flights.runMany(2, { ahead })
    expect([killAt, ran]).toEqual([killAt, ran.map(() => ({ code: 0, stdout: ran[0]?.stdout, stderr: '' }))])
    const requests = flights.requests()
    const locks = (await flights.files()).filter((name) => name.endsWith('.lock'))
    // A lock that is left behind where nobody needs it is removed by the next request.
    const none = [0, killed ? expect.anything() : []]
    const expected = killed ? [none, [1, []]] : [none]
    expect([killAt, expected]).toEqual([killAt, expect.arrayContaining([[requests, locks]])])
  }
  expect(killAt).toBeGreaterThan(20)
})
