/** When the console asks the server again: with the clock, the timers and the focus in the hands of the test. */
import { describe, expect, test } from 'vitest'
import { createPoller, delayAfter, type Snapshot, type Surroundings } from '../../../clients/console/src/api/poller.ts'

class Room implements Surroundings {
  time = 0
  attended = true
  #timers: { at: number; callback(): void }[] = []
  #listeners = new Set<() => void>()

  isAttended = () => this.attended
  now = () => new Date(this.time)
  onAttention = (callback: () => void) => {
    this.#listeners.add(callback)
    return () => void this.#listeners.delete(callback)
  }
  after = (milliseconds: number, callback: () => void) => {
    const timer = { at: this.time + milliseconds, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }
  look(attended: boolean) {
    this.attended = attended
    for (const listener of this.#listeners) listener()
  }
  async pass(milliseconds: number) {
    const end = this.time + milliseconds
    for (;;) {
      await settled()
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#timers = this.#timers.filter((one) => one !== next)
      this.time = next.at
      next.callback()
    }
    this.time = end
  }
  get isQuiet() {
    return this.#timers.length === 0 && this.#listeners.size === 0
  }
}

/** Lets everything happen that waits for no timer. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

function polled(room: Room, answers: (number: number) => Promise<string> | string, start?: Snapshot<string>) {
  const asked: number[] = []
  const shown: Snapshot<string>[] = []
  const signals: AbortSignal[] = []
  const poller = createPoller<string>({
    async load(signal) {
      asked.push(room.time)
      signals.push(signal)
      return answers(asked.length)
    },
    every: 10_000,
    ...(start && { start }),
    onChange: (snapshot) => shown.push(snapshot),
    surroundings: room,
  })
  return { poller, asked, shown, signals }
}

describe('a poller', () => {
  test('asks at once, and again after each interval', async () => {
    const room = new Room()
    const { asked, poller } = polled(room, (number) => `answer ${number}`)
    await room.pass(25_000)
    expect(asked).toEqual([0, 10_000, 20_000])
    expect(poller.snapshot).toEqual({ data: 'answer 3', at: new Date(20_000), isLoading: false })
  })

  test('is silent without attention, and asks when it returns', async () => {
    const room = new Room()
    const { asked } = polled(room, () => 'x')
    await room.pass(1000)
    room.look(false)
    await room.pass(3_600_000)
    expect(asked).toEqual([0])
    room.look(true)
    await room.pass(1000)
    expect(asked).toEqual([0, 3_601_000])
  })

  test('does not ask earlier because the attention changes often', async () => {
    const room = new Room()
    const { asked } = polled(room, () => 'x')
    for (let count = 0; count < 9; count++) {
      await room.pass(1000)
      room.look(count % 2 === 1)
    }
    expect(asked).toEqual([0])
  })

  test('keeps the data after a failure, waits longer after each one, and recovers', async () => {
    const room = new Room()
    const { asked, poller } = polled(room, (number) => {
      if (number === 1 || number > 4) return `answer ${number}`
      throw new Error(`failure ${number}`)
    })
    await room.pass(89_000)
    expect(asked).toEqual([0, 10_000, 30_000, 70_000])
    expect(poller.snapshot).toMatchObject({ data: 'answer 1', at: new Date(0), error: new Error('failure 4') })
    await room.pass(65_000)
    expect(poller.snapshot).toMatchObject({ data: 'answer 5', at: new Date(150_000) })
    expect(poller.snapshot.error).toBeUndefined()
  })

  test('waits at most two minutes after failures, or its own interval if that is longer', () => {
    expect(delayAfter(10_000, 50)).toBe(120_000)
    expect(delayAfter(300_000, 50)).toBe(300_000)
  })

  test('starts with what was known, and asks when that is old', async () => {
    const room = new Room()
    room.time = 15_000
    const start = { data: 'old', at: new Date(10_000), isLoading: true }
    const { asked, poller } = polled(room, () => 'new', start)
    expect(poller.snapshot).toEqual({ ...start, isLoading: false })
    await room.pass(20_000)
    expect(asked).toEqual([25_000, 35_000])
  })

  test('asks at once after the clock was set back', async () => {
    const room = new Room()
    room.time = 15_000
    const start = { data: 'old', at: new Date(9_000_000), isLoading: false }
    const { asked } = polled(room, () => 'new', start)
    await room.pass(0)
    expect(asked).toEqual([15_000])
  })

  test('ignores the answer to a request that a refresh has replaced', async () => {
    const room = new Room()
    const answers: ((text: string) => void)[] = []
    const { poller, signals } = polled(room, () => new Promise((resolve) => answers.push(resolve)))
    await settled()
    const refreshed = poller.refresh()
    await settled()
    answers[1]?.('second')
    await refreshed
    answers[0]?.('first')
    await settled()
    expect(poller.snapshot.data).toBe('second')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })

  test('ends without a timer, a listener or a late change', async () => {
    const room = new Room()
    const answers: ((text: string) => void)[] = []
    const { poller, shown } = polled(room, () => new Promise((resolve) => answers.push(resolve)))
    await settled()
    poller.stop()
    answers[0]?.('late')
    await settled()
    expect(shown.some(({ data }) => data === 'late')).toBe(false)
    expect(room.isQuiet).toBe(true)
  })
})

test('a poller shows a part of its data only as long as it has never had all', async () => {
  const room = new Room()
  const shown: Snapshot<string>[] = []
  createPoller<string>({
    async load(_, onPart) {
      onPart('part')
      await settled()
      return 'all'
    },
    every: 10_000,
    onChange: (snapshot) => shown.push(snapshot),
    surroundings: room,
  })
  await room.pass(25_000)
  expect(shown.map(({ data }) => data)).toEqual([undefined, 'part', 'all', 'all', 'all', 'all', 'all'])
})
