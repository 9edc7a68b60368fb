/** Runs one seeded schedule of processes that swap the same side item, and checks which swaps took effect. */
import type { CompanionItem } from '../../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../../lib/engine/storage/readcompanions.ts'
import { unhurried } from '../../../../support/deadlines.ts'
import { plain, type Subject } from './schedule.ts'
import { type Process, simulation } from './simulation.ts'
import { fakeTable } from './table.ts'

const key = { pk: 'swapped', sk: '#' }

/** The swaps that took effect, oldest first: each one appends its name. */
const namesIn = (attributes: CompanionItem['attributes'] | undefined): string[] =>
  Array.isArray(attributes?.names) ? attributes.names.map(String) : []

/** The errors; empty if the schedule succeeded. */
export async function runSwaps(seed: number, subject: Subject): Promise<string[]> {
  const world = simulation(seed)
  const table = fakeTable(world, { ...plain, faults: 0.15 }, subject.ItemsFault)
  const violations: string[] = []
  const outcomes = new Map<string, boolean | 'undecided'>()
  let running = 0

  async function swap(process: Process): Promise<void> {
    const sleep = (ms: number) => new Promise<void>((resolve) => world.after(ms, resolve))
    const storage = subject.storageOver(table.itemsFor(process), {
      now: () => world.now() + process.clockError,
      elapsed: world.now,
      random: world.random,
      sleep,
    })
    for (let round = 0; round < 6; round++) {
      const name = `${process.name}.${round}`
      try {
        const before = await getCompanion(storage, key)
        await sleep(world.between(0, 40))
        const names = [...namesIn(before?.attributes), name]
        const written = await storage.writeCompanion({ ...key, attributes: { names }, when: { is: before } }, unhurried)
        outcomes.set(name, written !== undefined)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        if (code !== 'Undecided' && code !== 'Busy' && code !== 'Unavailable') throw error
        if (code === 'Undecided') outcomes.set(name, 'undecided')
      }
    }
  }

  for (let index = 0; index < 4; index++) {
    running++
    swap({
      name: String(index),
      alive: true,
      clockError: world.between(-100, 100),
      write: -1,
      freeze: () => (world.chance(0.01) ? world.between(0, 3_000) : 0),
    })
      .catch((error: unknown) => violations.push(`process ${index} failed: ${error}`))
      .finally(() => running--)
  }
  await world.run(() => running === 0 && table.busy() === 0)

  const names = namesIn(table.truth.get(`${key.pk}\n${key.sk}`) as CompanionItem['attributes'] | undefined)
  if (new Set(names).size !== names.length) violations.push(`a swap took effect twice: ${names}`)
  for (const [name, outcome] of outcomes) {
    if (outcome === 'undecided' || names.includes(name) === outcome) continue
    violations.push(`swap ${name} returned ${outcome}, the item has ${names}`)
  }
  for (const name of names) if (!outcomes.has(name)) violations.push(`swap ${name} failed, and took effect`)
  return violations
}
