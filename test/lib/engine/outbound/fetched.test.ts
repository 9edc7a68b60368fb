import { describe, expect, test } from 'vitest'
import { keepFetched } from '../../../../lib/engine/outbound/fetched.ts'

/** Returns a value that is counted, and whose fetch fails while `fail` is set. */
function counted(lifetime: { freshMs?: number; staleMs?: number; retryMs?: number } = {}) {
  const world = { now: 0, asked: 0, fail: false }
  const fetch = async () => {
    world.asked++
    if (world.fail) throw new Error('down')
    return world.asked
  }
  return { world, value: keepFetched(fetch, { ...lifetime, now: () => world.now }) }
}

describe('a fetched value', () => {
  test('is fetched once for all who ask at the same time', async () => {
    const { world, value } = counted({ freshMs: 0 })
    expect(await Promise.all([value.get(), value.refresh(), value.get()])).toEqual([1, 1, 1])
    expect([await value.get(), world.asked]).toEqual([2, 2])
  })

  test('is kept while it is fresh, and by default permanently', async () => {
    for (const [lifetime, later] of [
      [{ freshMs: 10 }, 2],
      [{}, 1],
    ] as const) {
      const { world, value } = counted(lifetime)
      await value.get()
      world.now = 9
      expect(await value.get()).toBe(1)
      world.now = 10
      expect(await value.get()).toBe(later)
    }
  })

  test('is fetched again on demand, and kept', async () => {
    const { value } = counted()
    expect([await value.get(), await value.refresh(), await value.get()]).toEqual([1, 2, 2])
  })

  test('is not there after a failure, and the next caller fetches it', async () => {
    const { world, value } = counted()
    world.fail = true
    await expect(value.get()).rejects.toThrow('down')
    world.fail = false
    expect(await value.get()).toBe(2)
  })

  test('is used while it is stale and cannot be fetched, without a fetch for every caller', async () => {
    const { world, value } = counted({ freshMs: 10, staleMs: 100, retryMs: 5 })
    await value.get()
    world.fail = true
    world.now = 10
    expect([await value.get(), await value.get(), world.asked]).toEqual([1, 1, 2])
    world.now = 15
    expect([await value.get(), world.asked]).toEqual([1, 3])
    world.now = 100
    await expect(value.get()).rejects.toThrow('down')
  })
})
