/** Creates random generators: the same seed gives the same sequence. */

export interface Random {
  /** Returns a uniform number in [0, bound). */
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** Returns each item with the same probability. */
  some<T>(items: readonly T[], probability?: number): T[]
}

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  const chance = (probability: number): boolean => next() < probability
  return {
    below,
    chance,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined && items.length === 0) throw new Error('nothing to pick from')
      return item as (typeof items)[number]
    },
    some: (items, probability = 0.5) => items.filter(() => chance(probability)),
  }
}

/** Returns the parts of a list as text. */
export const listed = (text: string): string[] => text.split(' ; ')
