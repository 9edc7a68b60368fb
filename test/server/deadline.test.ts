/** Tests that a request does nothing after its deadline. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { requestDeadline } from '../../lib/server/lambda/requestdeadline.ts'
import { accessKeys, callsOf } from '../functions/stored/fixtures.ts'
import { useFunctions } from '../support/functions.ts'
import { makeGate, type Operation } from '../support/gate.ts'
import { patience } from '../support/patience.ts'
import { alice } from '../support/users.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

describe('a request that waits for the table until the answer 504', () => {
  const gate = makeGate()
  beforeAll(async () => {
    // Connects the administrator's functions before the gate exists.
    const body = await make({ name: 'warm' })
    expect((await call('update', { parameters: { name: 'warm' }, body })).status).toBe(200)
    expect((await call('delete', { parameters: { name: 'warm' } })).status).toBe(200)
    await read('warm')
    functions.get().store.around = gate.around
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  })
  afterAll(() => void vi.useRealTimers())

  const failures = () => functions.get().log.filter((line) => line.includes('"message":"request failed"')).length

  /** Sends a request with a near deadline and holds the operation until its answer and the end of `meanwhile`. */
  async function requestPastDeadline(
    operation: Operation,
    send: (received: number) => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
  ) {
    const before = failures()
    const { arrived, open } = gate.hold(operation)
    const answer = send(Date.now() - 19_700)
    await arrived
    await vi.advanceTimersByTimeAsync(300)
    expect(await answer).toMatchObject({ status: 504, json: { reason: 'Timeout' } })
    await meanwhile()
    open()
    // The abandoned work ends and logs its outcome.
    await vi.waitFor(() => expect(failures()).toBeGreaterThan(before), patience)
  }

  // threat: use-6
  test('does not enable a key that was disabled meanwhile', async () => {
    const { metadata: caller } = await make({ name: 'caller' }, { user: 'alice' })
    await make({ name: 'leaked' }, { user: 'alice' })
    const user = { ...alice, key: { name: 'caller', uid: caller.uid, generation: 1, type: '', user: 'alice' } }
    await requestPastDeadline(
      'batchGet',
      (received) =>
        call('patch', {
          parameters: { name: 'leaked' },
          user,
          received,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { spec: { disabled: false } },
        }),
      async () => {
        const object = await read('leaked')
        const body = { ...object, spec: { ...object.spec, disabled: true } }
        expect((await call('update', { parameters: { name: 'leaked' }, body })).status).toBe(200)
        expect((await call('delete', { parameters: { name: 'caller' } })).status).toBe(200)
      },
    )
    expect((await read('leaked')).spec.disabled).toBe(true)
  })

  // threat: use-6
  test('does not delete the objects it listed', async () => {
    await make({ name: 'kept' })
    await requestPastDeadline(
      'query',
      (received) => call('deletecollection', { query: { fieldSelector: 'metadata.name=kept' }, received }),
      async () => undefined,
    )
    expect(await read('kept')).toMatchObject({ kind: 'OwnedAccessKey' })
  })
})

// threat: use-6
test('a request that was received too long ago does not start', async () => {
  const answer = await call('patch', { parameters: { name: 'none' }, received: Date.now() - 20_000, body: {} })
  expect(answer.status).toBe(504)
})

describe('a deadline', () => {
  const clocks = () => {
    const at = { wall: 1_795_262_400_000, monotonic: 5_000 }
    return { at, clocks: { now: () => new Date(at.wall), elapsed: () => at.monotonic } }
  }

  test('starts when the gateway receives the request', () => {
    const { at, clocks: both } = clocks()
    expect(requestDeadline(both, at.wall - 3_000)()).toBe(17_000)
    expect(requestDeadline(both, at.wall + 60_000)()).toBe(20_000)
  })

  // In a frozen process one clock jumps, or both.
  // threat: use-6
  test.each([
    ['the wall clock', { wall: 20_000, monotonic: 0 }],
    ['the monotonic clock', { wall: 0, monotonic: 20_000 }],
    ['the monotonic clock, where the wall clock was set back', { wall: -3_600_000, monotonic: 20_000 }],
  ])('has passed when %s says so', (_, jump) => {
    const { at, clocks: both } = clocks()
    const deadline = requestDeadline(both, at.wall)
    expect(deadline()).toBe(20_000)
    at.wall += jump.wall
    at.monotonic += jump.monotonic
    expect(deadline()).toBeLessThanOrEqual(0)
  })
})
