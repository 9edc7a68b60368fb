/** Kills requests of the code of lib/ before and after each of their calls of the table, and compares what is left. */
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { createReal, type System } from './real.ts'
import { createTruth } from './truth.ts'

/** The values of all scenarios. */
export const values = ['v1', 'v2', 'v3']

/** When a request dies: before it makes its call with this number, or after the table has executed it. */
export interface Kill {
  call: number
  moment: 'before' | 'after'
}

export interface Scene extends System {
  /** Runs a request until it dies. Returns whether it did. */
  kill(request: () => Promise<unknown>, kill: Kill): Promise<boolean>
  /** Lets seconds pass. */
  pass(seconds: number): void
  /** Returns what is wrong. */
  judge(): Promise<string[]>
}

/** Creates a key with the value `v1`. */
export async function createScene(): Promise<Scene> {
  const violations: string[] = []
  let time = 1_800_000_000
  let calls = 0
  let death: { kill: Kill; dead: PromiseWithResolvers<'dead'> } | undefined
  const now = () => time
  const truth = createTruth('v1', now)
  const never = new Promise<never>(() => {})

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

  const items = createMemoryItems(() => time * 1000)
  const happened = (event: Parameters<typeof truth.apply>[0]) => void violations.push(...truth.apply(event))
  const system = await createReal({ items, now, call, happened }, 'v1')
  return {
    ...system,
    async kill(request, kill) {
      calls = 0
      const dead = Promise.withResolvers<'dead'>()
      death = { kill, dead }
      const outcome = await Promise.race([dead.promise, request()])
      death = undefined
      return outcome === 'dead'
    },
    pass(seconds) {
      time += seconds
    },
    async judge() {
      const wrong = [...violations, ...(await system.inspect(values))]
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
  before(scene: Scene): Promise<unknown>
  request(scene: Scene): Promise<unknown>
  /** The values that must work after the request was repeated. */
  left: readonly string[]
}

const rotation = { overlap: 3600, key: 'v2' }
const rotate = (scene: Scene) => scene.rotate(rotation)
async function useNew(scene: Scene): Promise<void> {
  await rotate(scene)
  const refused = await scene.authenticate('v2')
  if (refused !== undefined) throw new Error(refused)
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'a rotation to a value of its own',
    before: async () => {},
    request: rotate,
    left: ['v1', 'v2'],
  },
  {
    name: 'a rotation that replaces an unused value',
    before: rotate,
    request: (scene) => scene.rotate({ ...rotation, key: 'v3', replace: true }),
    left: ['v1', 'v3'],
  },
  {
    name: 'a first use',
    before: rotate,
    request: (scene) => scene.authenticate('v2'),
    left: ['v1', 'v2'],
  },
  {
    name: 'a first use without overlap',
    before: (scene) => scene.rotate({ ...rotation, overlap: 0 }),
    request: (scene) => scene.authenticate('v2'),
    left: ['v2'],
  },
  { name: 'settling during the overlap', before: useNew, request: (scene) => scene.settle(), left: ['v1', 'v2'] },
  {
    name: 'settling after the overlap',
    async before(scene) {
      await useNew(scene)
      scene.pass(3660)
    },
    request: (scene) => scene.settle(),
    left: ['v2'],
  },
  {
    name: 'the end of an overlap',
    before: useNew,
    request: (scene) => scene.finish(),
    left: ['v2'],
  },
  {
    name: 'a value that replaces all at once',
    before: useNew,
    request: (scene) => scene.put('v3'),
    left: ['v3'],
  },
  {
    name: 'a report of the current value during a rotation',
    before: rotate,
    request: (scene) => scene.reportLeak('v1'),
    left: [],
  },
  {
    name: 'a report of an unused value',
    before: rotate,
    request: (scene) => scene.reportLeak('v2'),
    left: ['v1'],
  },
  {
    name: 'a report of the retiring value',
    before: useNew,
    request: (scene) => scene.reportLeak('v1'),
    left: ['v2'],
  },
]
