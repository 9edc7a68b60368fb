import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTimers } from '../../../../infra/local/gateway/schedule.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

test('runs after each interval, not before', async () => {
  const fire = vi.fn(async () => {})
  const { stop } = startTimers([{ seconds: 60, fire }])
  await vi.advanceTimersByTimeAsync(59_999)
  expect(fire).toHaveBeenCalledTimes(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(fire).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(fire).toHaveBeenCalledTimes(3)
  await stop()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(fire).toHaveBeenCalledTimes(3)
})

test('never runs twice at once; stop waits for the running task and starts no other', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const fire = vi.fn(() => promise)
  const { stop } = startTimers([{ seconds: 1, fire }])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(fire).toHaveBeenCalledTimes(1)
  const stopped = vi.fn()
  const stopping = stop().then(stopped)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stopped).not.toHaveBeenCalled()
  resolve()
  await stopping
  await vi.advanceTimersByTimeAsync(10_000)
  expect(fire).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})
