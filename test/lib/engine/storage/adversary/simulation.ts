/** Simulates the time, randomness and processes of one schedule. The seed determines everything, so it is reproducible. */

/** Returns a generator that is uniform in [0, 1) (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Event {
  at: number
  run(): void
}

export interface Simulation {
  random(): number
  /** Returns true with this probability. */
  chance(probability: number): boolean
  between(low: number, high: number): number
  pick<T>(from: readonly T[]): T
  /** Unix ms. */
  now(): number
  after(ms: number, run: () => void): void
  /** Runs events in time order until `isOver` returns true or no event is left. */
  run(isOver: () => boolean): Promise<void>
}

export function simulation(seed: number): Simulation {
  const random = randomFrom(seed)
  const queue: Event[] = []
  let time = 1_800_000_000_000
  const between = (low: number, high: number) => low + random() * (high - low)
  return {
    random,
    between,
    chance: (probability) => random() < probability,
    pick: <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T,
    now: () => time,
    after: (ms, run) => void queue.push({ at: time + ms, run }),
    async run(isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      for (await settlePromises(); queue.length > 0 && !isOver(); await settlePromises()) {
        let first = 0
        for (let index = 1; index < queue.length; index++) {
          if ((queue[index] as Event).at < (queue[first] as Event).at) first = index
        }
        const [event] = queue.splice(first, 1) as [Event]
        time = event.at
        event.run()
      }
    },
  }
}

/** Resolves when no promise is left to continue, so that every answered process has sent its next request. */
const settlePromises = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** A client. Its clock is inaccurate, and it receives nothing once it is dead. */
export interface Process {
  name: string
  alive: boolean
  clockError: number
  /** Its current write. */
  write: number
  /** The time that it was frozen, which its next answer is delayed by. */
  freeze(): number
}
