/** Kills requests of the code of lib/ before and after each of their calls of the table, and compares what is left. */
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { createReal } from './real.ts'
import type { Subject } from './realsubject.ts'
import { type Allowed, type Answer, type Event, requestSeconds, type Step, type System } from './system.ts'
import { createTruth, type Truth } from './truth.ts'

const start = 1_800_000_000

/** When a request dies: before it makes its call with this number, or after the table has executed it. */
export interface Kill {
  call: number
  moment: 'before' | 'after'
}

export interface Scene {
  system: System
  truth: Truth
  /** Runs a request to its end. */
  run<T>(step: Step<T>): Promise<T>
  /** Runs a request until it dies. Returns whether it did. */
  kill(step: () => Step<unknown>, kill: Kill): Promise<boolean>
  /** Lets seconds pass. */
  pass(seconds: number): void
  allowed(value: string): Promise<Allowed>
  /** Returns what is wrong. */
  judge(): Promise<string[]>
}

/** Creates a key with the value `v1`. */
export async function createScene(subject: Subject): Promise<Scene> {
  const violations: string[] = []
  const values = ['v1']
  let time = start
  let step = 0
  let calls = 0
  let death: { kill: Kill; dead: PromiseWithResolvers<'dead'> } | undefined
  const clock = { now: () => time, step: () => ++step }
  const life = { created: start, sliding: false }
  const truth = createTruth(life, 'v1', clock)
  const never = new Promise<never>(() => {})
  const world = {
    ...clock,
    life,
    first: 'v1',
    chance: () => false,
    newValue() {
      const value = `v${values.length + 1}`
      values.push(value)
      return value
    },
    happened: (event: Event) => void violations.push(...truth.apply(event)),
    known: () => values,
    truth,
  }

  async function call<T>(run: () => Promise<T>): Promise<T> {
    const { kill, dead } = death ?? {}
    const number = ++calls
    const dies = (moment: Kill['moment']) => kill?.moment === moment && number >= kill.call
    if (dies('before')) {
      dead?.resolve('dead')
      return never
    }
    const answer = await run()
    if (dies('after')) {
      dead?.resolve('dead')
      return never
    }
    return answer
  }

  async function run<T>(steps: Step<T>): Promise<T> {
    let next = steps.next()
    while (!next.done) next = steps.next(await next.value)
    return next.value
  }

  const items = createMemoryItems(() => time * 1000)
  const system = await createReal(world, { items, call, pause: async () => {} }, subject)
  return {
    system,
    truth,
    run,
    async kill(step, kill) {
      calls = 0
      const dead = Promise.withResolvers<'dead'>()
      death = { kill, dead }
      const outcome = await Promise.race([dead.promise, run(step())])
      death = undefined
      return outcome === 'dead'
    },
    pass(seconds) {
      time += seconds
    },
    async allowed(value) {
      const answer = await run(system.authenticate(value))
      if (!('value' in answer)) throw new Error(`${value}: ${JSON.stringify(answer)}`)
      return answer
    },
    async judge() {
      const wrong = [...violations, ...(await system.inspect())]
      for (const value of values) {
        const works = await system.works(value)
        if (works !== truth.works(value))
          wrong.push(`${value} ${works ? 'works, and must not' : 'must work, and does not'}`)
      }
      return wrong
    },
  }
}

/** A request that is killed, after others. */
export interface Scenario {
  name: string
  before(scene: Scene): Promise<void>
  request(scene: Scene): Step<unknown>
  /** The values that must work after the request was repeated. */
  left: readonly string[]
}

const wait = requestSeconds + 30

const rotation = { overlap: 3600, key: 'v2' }
const rotate = async ({ run, system }: Scene): Promise<Answer> => run(system.rotate(undefined, rotation))
async function useNew(scene: Scene): Promise<void> {
  await rotate(scene)
  await scene.allowed('v2')
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'a rotation to a value of its own',
    before: async () => {},
    request: ({ system }) => system.rotate(undefined, rotation),
    left: ['v1', 'v2'],
  },
  {
    name: 'a rotation that replaces an unused value',
    before: async (scene) => void (await rotate(scene)),
    request: ({ system }) => system.rotate(undefined, { overlap: 3600, key: 'v3', replace: true }),
    left: ['v1', 'v3'],
  },
  {
    name: 'a first use',
    before: async (scene) => void (await rotate(scene)),
    request: ({ system }) => system.authenticate('v2'),
    left: ['v1', 'v2'],
  },
  {
    name: 'a first use without overlap',
    before: async ({ run, system }) => void (await run(system.rotate(undefined, { ...rotation, overlap: 0 }))),
    request: ({ system }) => system.authenticate('v2'),
    left: ['v2'],
  },
  { name: 'settling during the overlap', before: useNew, request: ({ system }) => system.settle(), left: ['v1', 'v2'] },
  {
    name: 'settling after the overlap',
    async before(scene) {
      await useNew(scene)
      scene.pass(3600 + wait)
    },
    request: ({ system }) => system.settle(),
    left: ['v2'],
  },
  {
    name: 'the end of an overlap',
    before: useNew,
    request: ({ system }) => system.rotate(undefined, { overlap: 0, finish: true }),
    left: ['v2'],
  },
  {
    name: 'a value that replaces all at once',
    before: useNew,
    request: ({ system }) => system.put(undefined, 'v3'),
    left: ['v3'],
  },
  {
    name: 'a report of the current value during a rotation',
    before: async (scene) => void (await rotate(scene)),
    request: ({ system }) => system.reportLeak('v1'),
    left: [],
  },
  {
    name: 'a report of an unused value',
    before: async (scene) => void (await rotate(scene)),
    request: ({ system }) => system.reportLeak('v2'),
    left: ['v1'],
  },
  {
    name: 'a report of the retiring value',
    before: useNew,
    request: ({ system }) => system.reportLeak('v1'),
    left: ['v2'],
  },
]
