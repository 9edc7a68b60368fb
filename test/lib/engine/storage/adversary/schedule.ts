/** Runs one seeded schedule: processes that write, list, watch and sweep over the adversarial table. Records what they see. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import type {
  ChangeBatch,
  ListRequest,
  Mutate,
  Storage,
  Stored,
  Table,
} from '../../../../../lib/engine/storage/interface.ts'
import type { FaultKind, Items } from '../../../../../lib/engine/storage/items.ts'
import type { StorageOptions } from '../../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../../lib/engine/storage/readcompanions.ts'
import { unhurried } from '../../../../support/deadlines.ts'
import { creating, deleting, Refused, setting, widget, widgets } from '../fixtures.ts'
import { judge, type Listed, type Watched, type Written } from './oracle.ts'
import { type Process, type Simulation, simulation } from './simulation.ts'
import { fakeTable, type Weather } from './table.ts'

/** The code under test: the storage itself, or a copy of it without a rule. */
export interface Subject {
  storageOver(items: Items, options: StorageOptions): Storage
  ItemsFault: new (kind: FaultKind, cause: unknown) => Error
}

export interface Profile extends Weather {
  writers: number
  writes: number
  keys: readonly string[]
  /** The kinds of writes, each as likely as its number of entries. */
  kinds: readonly ('create' | 'update' | 'delete')[]
  /** The most hours that pass between some operations, and while a process is frozen. Without it, nothing expires. */
  hours: Readonly<Record<'writers' | 'readers' | 'sweepers' | 'frozen', number>>
  /** How often the sweeper runs. Most schedules have one. */
  sweeps: number
  /** Most writes are conditional on a maker as it was read; some change the maker. */
  makers?: true
  /** Most writes raise the count of a side item, on the condition (`when`) that it has the count that they have read. */
  counters?: true
  /** All objects are in one index partition of names, and some lists read it. */
  names?: true
}

/** In hours. */
const second = 1 / 3600

const noHours = { writers: 0, readers: 0, sweepers: 0, frozen: 0 }

export const plain: Profile = {
  writers: 5,
  writes: 7,
  keys: ['a', 'b', 'n/a', 'n-m/a'],
  kinds: ['create', 'create', 'update', 'update', 'update', 'delete'],
  hours: noHours,
  sweeps: 4,
  faults: 0.06,
  late: 3_000,
  expiry: undefined,
}

/** Processes sleep and freeze for days. */
export const expiring: Profile = {
  ...plain,
  writers: 4,
  writes: 10,
  keys: ['a', 'b'],
  hours: { writers: 70, readers: 70, sweepers: 70, frozen: 70 },
  late: 14 * 60_000,
  expiry: 30 * 3_600_000,
}

/** Sweeps run in time, but readers return after days. */
export const lagging: Profile = {
  ...expiring,
  writes: 14,
  hours: { writers: 8, readers: 45, sweepers: 2, frozen: 0 },
  sweeps: 150,
  expiry: 60 * 3_600_000,
}

/** Names are deleted and created anew all the time. */
export const recreating: Profile = { ...plain, writes: 20, keys: ['a', 'b'], kinds: ['create', 'delete'], faults: 0.02 }

/** Names are deleted and created anew while sweeps clear their tombstones, and readers return after seconds. */
export const clearing: Profile = {
  ...recreating,
  keys: ['a', 'b', 'n/a'],
  kinds: ['create', 'create', 'update', 'delete', 'delete'],
  hours: { ...noHours, writers: 2 * second, readers: 6 * second },
  sweeps: 60,
  faults: 0.06,
}

/** The same, with lists of the names. */
export const naming: Profile = { ...clearing, names: true }

/** Writes are conditional on their maker. */
export const making: Profile = { ...plain, writes: 9, makers: true }

/** Writes count on one side item. */
export const counting: Profile = { ...plain, writes: 9, counters: true }

/** The index partition of names. */
const everything = 'all'
const tableOf = ({ names }: Profile): Table => (names ? { ...widgets, names: () => [everything] } : widgets)

const minute = 60_000
const partitions = ['p', 'q'] as const

/** The errors; empty if the schedule succeeded. */
export async function runSchedule(seed: number, profile: Profile, subject: Subject): Promise<string[]> {
  const world = simulation(seed)
  const table = fakeTable(world, profile, subject.ItemsFault)
  const { run, violations, crowd } = gather(world, profile, (process) =>
    subject.storageOver(table.itemsFor(process), {
      now: () => world.now() + process.clockError,
      elapsed: world.now,
      random: world.random,
      sleep: (ms) => sleep(world, process, ms),
    }),
  )
  await world.run(() => crowd.size === 0 && table.busy() === 0)
  for (const process of crowd) violations.push(`${process.name} waits for ever`)
  return [...violations, ...table.violations, ...judge({ log: table.log, truth: table.truth, ...run })]
}

/** Starts the processes of a schedule. They leave the crowd when they finish, and some die earlier. */
function gather(world: Simulation, profile: Profile, storageFor: (process: Process) => Storage) {
  const violations: string[] = []
  const crowd = new Set<Process>()
  const written: Written[] = []
  const run: Run = {
    world,
    profile,
    written,
    listed: [],
    watched: [],
    acknowledged: () => highest(written),
    isBusy: () => crowd.size > 1,
  }

  function start(name: string, script: (storage: Storage, process: Process, run: Run) => Promise<void>): void {
    const process: Process = {
      name,
      alive: true,
      clockError: world.between(-100, 100),
      write: -1,
      freeze() {
        const { frozen } = profile.hours
        if (!world.chance(frozen ? 0.015 : 0.004)) return 0
        return frozen ? world.between(0, frozen) * 60 * minute : world.between(0, 3_000)
      },
    }
    crowd.add(process)
    const leave = () => void crowd.delete(process)
    script(storageFor(process), process, run).then(leave, (error: unknown) => {
      violations.push(`${name} failed: ${error instanceof Error ? error.stack : error}`)
      leave()
    })
    if (world.chance(0.12)) {
      world.after(world.between(0, 1_500), () => {
        process.alive = false
        leave()
      })
    }
  }

  for (let index = 0; index < profile.writers; index++) start(`writer ${index}`, write)
  for (let index = 0; index < 3; index++) start(`lister ${index}`, list)
  for (let index = 0; index < 2; index++) start(`watcher ${index}`, watch)
  if (world.chance(0.7)) start('sweeper', sweep)
  return { run, violations, crowd }
}

interface Run {
  world: Simulation
  profile: Profile
  written: Written[]
  listed: Listed[]
  watched: Watched[]
  /** The highest revision acknowledged so far. */
  acknowledged(): number
  /** Reports whether a process other than the sweeper is left. */
  isBusy(): boolean
}

const highest = (written: readonly Written[]): number =>
  Math.max(1, ...written.map(({ outcome }) => (outcome.type === 'acknowledged' ? outcome.rv : 1)))

const sleep = ({ after }: Simulation, process: Process, ms: number): Promise<void> =>
  new Promise((resolve) => after(ms, () => process.alive && resolve()))

/** Waits a moment between two operations; rarely, hours. */
function pause({ world, profile }: Run, process: Process, ms: number, who: keyof Profile['hours']): Promise<void> {
  const most = profile.hours[who]
  const hours = most && world.chance(who === 'sweepers' ? 0.6 : 0.2) ? world.between(0, most) * 60 * minute : 0
  return sleep(world, process, world.between(0, ms) + hours)
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

async function write(storage: Storage, process: Process, run: Run): Promise<void> {
  const { world, profile, written } = run
  for (let index = 0; index < profile.writes; index++) {
    await pause(run, process, 120, 'writers')
    const changesMaker = profile.makers && world.chance(0.25)
    const key = changesMaker ? 'maker' : world.pick(profile.keys)
    const kind = changesMaker ? 'maker' : world.pick(profile.kinds)
    const made = profile.makers && !changesMaker && world.chance(0.8) ? await makerNow(storage, run) : undefined
    if (made !== undefined) await pause(run, process, 60, 'writers')
    const one: Written = {
      key,
      kind,
      after: run.acknowledged(),
      outcome: { type: 'unknown' },
      ...(made !== undefined && { made }),
    }
    const number = written.push(one) - 1
    process.write = number
    const spec = { write: number, in: partitions.filter(() => world.chance(0.5)) }
    try {
      const change = madeBy(made, kind === 'create' ? creating(key, spec) : changeOf[kind](spec))
      const mutate = profile.counters && world.chance(0.8) ? await counted(storage, world, change) : change
      const { rv } = await (kind === 'create'
        ? storage.update(tableOf(profile), key, mutate, { ...unhurried, isNew: true })
        : storage.update(tableOf(profile), key, mutate, unhurried))
      one.outcome = { type: 'acknowledged', rv }
    } catch (error) {
      const known: unknown[] = ['Busy', 'Unavailable', ...(profile.makers ? ['CompanionChanged'] : [])]
      const isKnown = error instanceof Refused || known.includes(codeOf(error))
      if (!isKnown && codeOf(error) !== 'Undecided') throw error
      if (isKnown) one.outcome = { type: 'refused' }
    }
  }
}

const makerItem = { pk: 'maker', sk: '#' }

/** Returns the generation of the maker, possibly a moment old. */
async function makerNow(storage: Storage, run: Run): Promise<number | undefined> {
  try {
    const item = await getCompanion(storage, makerItem)
    return item && Number(item.attributes.generation)
  } catch (error) {
    if (!mayFail(error, run)) throw error
    return undefined
  }
}

/** Returns the same change, on the condition that the maker still has this generation. */
const madeBy =
  (generation: number | undefined, mutate: Mutate): Mutate =>
  async (current) => {
    const mutation = await mutate(current)
    if (generation === undefined || mutation.type === 'none') return mutation
    return { ...mutation, companions: [{ op: 'unchanged', ...makerItem, attributes: { generation } }] }
  }

export const counter = { pk: 'counter', sk: '#' }

/** Returns the same change, which also raises the count by one and stores it in the object. */
async function counted(storage: Storage, { pick }: Simulation, mutate: Mutate): Promise<Mutate> {
  await storage.writeCompanion({ ...counter, attributes: { count: 0 }, when: 'absent' }, unhurried)
  return async (current) => {
    const mutation = await mutate(current)
    if (mutation.type !== 'put') return mutation
    const was = Number((await getCompanion(storage, counter))?.attributes.count)
    const attributes = { count: was + 1 }
    const object = { ...mutation.object, spec: { ...mutation.object.spec, ...attributes } }
    const when = { attributes: { count: was }, lacks: ['none'] }
    return { ...mutation, object, companions: [{ op: pick(['put', 'set'] as const), ...counter, attributes, when }] }
  }
}

/** Raises the generation of the maker and of the item that others check. */
const nextMaker =
  (spec: JsonObject): Mutate =>
  (current) => {
    const generation = Number(current?.object.spec?.generation ?? 0) + 1
    const object = { ...widget('maker', { ...spec, generation }) }
    return { type: 'put', object, internal: {}, companions: [{ op: 'put', ...makerItem, attributes: { generation } }] }
  }

const changeOf: Record<'update' | 'delete' | 'maker', (spec: JsonObject) => Mutate> = {
  update: setting,
  delete: () => deleting,
  maker: nextMaker,
}

/** Reads may fail without answers and, if hours pass, because the log has expired. */
function mayFail(error: unknown, { profile }: Run): boolean {
  const code = codeOf(error)
  return code === 'Busy' || code === 'Unavailable' || (code === 'Expired' && profile.expiry !== undefined)
}

const selected = {
  text: '"p"',
  matches: ({ object }: Stored) => (object.spec?.in as string[] | undefined)?.includes('p') === true,
}

async function list(storage: Storage, process: Process, run: Run): Promise<void> {
  const { world, listed } = run
  for (let round = 0; round < 5; round++) {
    await pause(run, process, 150, 'readers')
    const asked = world.pick([undefined, undefined, ['p'], ['p', 'q']])
    const namespace = world.chance(0.15) ? 'n' : undefined
    const limit = world.pick([undefined, 1, 2])
    const earlier = world.chance(0.2) ? listed.at(-1)?.rv : undefined
    const inNamespace = namespace && { namespace }
    const range = { ...(asked && { partitions: asked }), ...inNamespace }
    // The objects of one partition are also those with its name.
    const isSelected = asked?.length === 1 && round % 2 === 1
    const after = earlier ? 1 : run.acknowledged()
    const one: Omit<Listed, 'rv' | 'at'> = { ...range, isSelected, after, items: [], nexts: [] }
    try {
      let request: ListRequest = {
        ...(isSelected ? { ...inNamespace, ...selected } : range),
        ...(limit && { limit }),
        ...(run.profile.names && limit !== 1 && !asked && { named: everything }),
        ...(earlier && { at: earlier }),
      }
      for (;;) {
        const page = await storage.list(tableOf(run.profile), request)
        one.items.push(...page.items.map((item) => item.read()))
        if (limit && page.items.length > limit) throw new Error('a page over its limit')
        if (request.at !== undefined && page.rv !== request.at) throw new Error('a page at another revision')
        if (page.next === undefined) {
          listed.push({ ...one, rv: page.rv, at: world.now() })
          break
        }
        one.nexts.push(page.next)
        request = { ...request, after: page.next, at: page.rv }
        await pause(run, process, 60, 'readers')
      }
    } catch (error) {
      if (!mayFail(error, run)) throw error
    }
  }
}

async function watch(storage: Storage, process: Process, run: Run): Promise<void> {
  const { world, watched } = run
  await pause(run, process, 200, 'readers')
  const after = run.acknowledged()
  const start = world.pick(['beginning', 'newest'] as const)
  let one: Watched | undefined
  for (let poll = 0; poll < 14; poll++) {
    try {
      if (!one) {
        const from = start === 'beginning' ? 1 : await storage.revision(widgets)
        one = { from, after: start === 'beginning' ? 1 : after, at: world.now(), rv: from, changes: [], seen: [] }
        watched.push(one)
      }
      const batch: ChangeBatch = await storage.changes(widgets, one.rv)
      one.changes.push(...batch.changes)
      one.rv = batch.rv
      one.seen.push({ rv: batch.rv, at: world.now() })
    } catch (error) {
      if (!mayFail(error, run)) throw error
      if (codeOf(error) === 'Expired') return
    }
    await pause(run, process, 200, 'readers')
  }
}

async function sweep(storage: Storage, process: Process, run: Run): Promise<void> {
  for (let round = 0; round < run.profile.sweeps && run.isBusy(); round++) {
    await pause(run, process, 500, 'sweepers')
    await storage.sweep(widgets).catch((error: unknown) => {
      if (!mayFail(error, run)) throw error
    })
  }
}
