/** Makes a seeded schedule of roles, which compares each step with what must be true. */
import { randomFrom } from '../../storage/adversary/simulation.ts'
import { roles } from './roles.ts'
import {
  type Authenticated,
  type Event,
  type Life,
  requestSeconds,
  type Step,
  type System,
  type World,
} from './system.ts'
import { createTruth, type Truth } from './truth.ts'

export interface Profile {
  /** The most steps. */
  steps: number
  /** How likely each role is in a schedule. */
  roles: Partial<Record<keyof typeof roles, readonly number[]>>
  ttl: readonly (number | undefined)[]
  overlaps: readonly number[]
  /** How likely a step takes seconds, minutes, hours and days. */
  pauses: { seconds: number; minutes: number; hours: number; days: number }
}

const often = [1, 0.5]
const seldom = [0.25]

export const plain: Profile = {
  steps: 160,
  roles: {
    job: [1, 0.6, 0.3],
    consumer: [1, 1],
    owner: seldom,
    disabler: [0.2],
    finder: [0.15],
    settler: often,
    sweeper: seldom,
    watcher: seldom,
    thief: [0.4],
  },
  ttl: [undefined, undefined, 1_800, 90_000],
  overlaps: [0, 10, 60, 3_600, 86_400],
  pauses: { seconds: 0.5, minutes: 0.08, hours: 0.02, days: 0.004 },
}

/** Owners, reports and disabling all the time. */
export const troubled: Profile = {
  ...plain,
  roles: { ...plain.roles, owner: [1, 0.5], disabler: [1, 0.5], finder: [0.7, 0.3], thief: [1, 0.5] },
}

/** Rotations that overlap for less than a request lasts, and many requests. */
export const brief: Profile = {
  ...plain,
  overlaps: [0, 0, 10, 3_600],
  roles: { ...plain.roles, consumer: [1, 1, 1, 1], job: [1, 1], owner: [1], disabler: [0.3], thief: [1, 1] },
  pauses: { seconds: 0.3, minutes: 0.01, hours: 0.004, days: 0 },
}

/** Keys that slide and are swept. */
export const sliding: Profile = {
  ...plain,
  ttl: [600, 1_800, 7_200],
  overlaps: [3_600, 86_400, 259_200],
  steps: 320,
  roles: { ...plain.roles, consumer: [1, 1, 1], sweeper: [1, 1], owner: seldom, finder: [0.1] },
  pauses: { seconds: 0.3, minutes: 0.3, hours: 0.01, days: 0.003 },
}

interface Actor {
  steps: Step<void>
  /** The step at which the process dies. */
  dies: number
  /** Set while a promise is awaited. */
  isWaiting: boolean
  isResting: boolean
  answer: unknown
}

/** What the roles see of a schedule. */
export interface Scene extends World {
  random(): number
  pick<T>(from: readonly T[]): T
  profile: Profile
  system: System
  /** The secret store that jobs write and consumers read. */
  store: string
  setStore(value: string): void
  /** Values that were in the store at some time. */
  everStored(): readonly string[]
  /** All values. */
  known(): readonly string[]
  /** Authenticates, and judges the verdict by what was true meanwhile. */
  use(value: string): Step<Authenticated>
  truth: Truth
  wrong(what: string): void
}

export interface Schedule {
  scene: Scene
  actors: Actor[]
  violations: string[]
  /** The values to judge after each step. */
  known(): readonly string[]
  /** Moves the clock, and returns the actors that may continue. */
  pause(): readonly Actor[]
  /** Continues an actor. Returns the promise that it waits for, if any. */
  advance(actor: Actor): Promise<unknown> | undefined
  /** Reports whether anything has happened since the last comparison. */
  isChanged(): boolean
  /** Compares the verdicts of a system at rest with what must be true. */
  compare(works: (value: string) => boolean | 'undecided', faults: readonly string[]): void
}

const start = 1_800_000_000

export function createSchedule(seed: number, profile: Profile): Schedule {
  const random = randomFrom(seed)
  const chance = (probability: number) => random() < probability
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const violations: string[] = []
  const running = new Set<{ value: string; worked: boolean; failed: boolean }>()
  let time = start
  let step = 0
  let count = 1
  /** Seconds that pass as soon as no request is under way, or when patience ends. */
  let leap = 0
  let patience = 0
  let isChanged = true
  const values = ['v1']
  const stored = ['v1']
  const ttl = pick(profile.ttl)
  const life: Life = { created: start, ...(ttl !== undefined && { ttl }), sliding: chance(0.6) }
  const clock = { now: () => time, step: () => step }
  const truth = createTruth(life, 'v1', clock)

  function* use(value: string): Step<Authenticated> {
    const works = truth.works(value)
    const one = { value, worked: works, failed: !works }
    running.add(one)
    const began = time
    const answer = yield* scene.system.authenticate(value)
    observe(one)
    running.delete(one)
    // The client has given up.
    if (time - began > requestSeconds) return { unanswered: true }
    if ('value' in answer) {
      if (!one.worked) violations.push(`${value} was accepted, though it never worked meanwhile`)
      if (truth.isPending(value)) violations.push(`${value} was accepted, and is still pending`)
    } else if ('refused' in answer && !one.failed)
      violations.push(`${value} was refused (${answer.refused}), though it worked all the time`)
    return answer
  }

  function pass(seconds: number): void {
    time += seconds
    if (seconds > 0) isChanged = true
    for (const one of running) observe(one)
  }

  function observe(one: { value: string; worked: boolean; failed: boolean }): void {
    if (truth.works(one.value)) one.worked = true
    else one.failed = true
  }

  const scene: Scene = {
    life,
    first: 'v1',
    ...clock,
    chance,
    random,
    pick,
    profile,
    system: undefined as unknown as System,
    store: 'v1',
    setStore: (value) => {
      scene.store = value
      stored.push(value)
    },
    everStored: () => stored,
    newValue() {
      const value = `v${++count}`
      values.push(value)
      return value
    },
    known: () => values,
    use,
    truth,
    wrong: (what) => void violations.push(what),
    happened(event: Event) {
      isChanged = true
      violations.push(...truth.apply(event))
    },
  }

  const actors: Actor[] = []
  for (const [name, odds] of Object.entries(profile.roles)) {
    for (const odd of odds) {
      if (!chance(odd)) continue
      const dies = name !== 'consumer' && chance(0.2) ? random() * 40 : Number.POSITIVE_INFINITY
      actors.push({
        steps: roles[name as keyof typeof roles](scene),
        dies,
        isWaiting: false,
        isResting: true,
        answer: undefined,
      })
    }
  }

  return {
    scene,
    actors,
    violations,
    known: () => values,
    pause() {
      step++
      const { seconds, minutes, hours, days } = profile.pauses
      if (leap === 0) {
        if (chance(days)) leap = random() * 3 * 86_400
        else if (chance(hours)) leap = random() * 2 * 3_600
        else if (chance(minutes)) leap = random() * 180
        if (leap > 0) patience = chance(0.85) ? 40 : 0
      }
      const busy = leap > 0 && patience-- > 0 ? actors.filter(({ isResting }) => !isResting) : []
      if (leap > 0 && busy.length === 0) {
        pass(Math.floor(leap))
        leap = 0
      } else if (chance(seconds)) pass(Math.floor(random() * 3))
      return busy.length > 0 ? busy : actors
    },
    advance(actor) {
      const { done, value } = --actor.dies < 0 ? { done: true, value: undefined } : actor.steps.next(actor.answer)
      const index = actors.indexOf(actor)
      if (done && index >= 0) actors.splice(index, 1)
      for (const one of running) observe(one)
      actor.isResting = value === 'resting'
      if (done || !value || value === 'resting') return undefined
      actor.isWaiting = true
      return value.then((answer: unknown) => {
        actor.isWaiting = false
        actor.answer = answer
      })
    },
    isChanged: () => isChanged,
    compare(works, faults) {
      isChanged = false
      for (const value of values) {
        const verdict = works(value)
        if (verdict === 'undecided') violations.push(`${value} is neither accepted nor refused`)
        else if (verdict !== truth.works(value))
          violations.push(`${value} ${verdict ? 'works, and must not' : 'must work, and does not'}`)
      }
      const { store } = scene
      const isKept = !truth.isAlive() || truth.isEndedOnPurpose(store) || truth.works(store)
      if (!isKept) violations.push(`${store} is in the store, and nobody ended it on purpose, and it does not work`)
      violations.push(...faults)
    },
  }
}
