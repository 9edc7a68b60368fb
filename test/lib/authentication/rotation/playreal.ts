/** Plays a schedule against the code of lib/: the schedule decides which call of the table is next. */
import process from 'node:process'
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { createReal, type RealWorld } from './real.ts'
import type { Subject } from './realsubject.ts'
import { createSchedule, type Profile } from './schedule.ts'

/** Resolves when no promise is left to continue. */
const settlePromises = () => new Promise<void>((resolve) => process.nextTick(resolve))

/** Returns what is wrong. */
export async function playReal(seed: number, profile: Profile, subject: Subject): Promise<string[]> {
  const parked: (() => void)[] = []
  const running = new Set<Promise<unknown>>()
  /** Resolves when everybody waits for the schedule. */
  async function settle(): Promise<void> {
    for (await settlePromises(); running.size > 0; await settlePromises()) {
      const calls = [...running]
      running.clear()
      await Promise.allSettled(calls)
    }
  }
  let isOpen = true
  const turn = () => (isOpen ? Promise.resolve() : new Promise<void>((resolve) => void parked.push(resolve)))
  const schedule = createSchedule(seed, profile)
  const { scene, violations, known } = schedule
  const items = createMemoryItems(() => scene.now() * 1000)
  const world: RealWorld = { ...scene, known }
  scene.system = await createReal(
    world,
    {
      items,
      pause: turn,
      async call(run) {
        await turn()
        const answer = run()
        running.add(answer)
        return answer
      },
    },
    subject,
  )
  isOpen = false
  for (let count = 0; schedule.actors.length > 0 && count < profile.steps * 4; count++) {
    const ready = schedule.pause().filter(({ isWaiting }) => !isWaiting)
    const others = schedule.actors.filter(({ isWaiting }) => !isWaiting)
    const choices = ready.length + parked.length > 0 ? ready : others
    const chosen = Math.floor(scene.random() * (choices.length + parked.length))
    const actor = choices[chosen]
    if (actor) schedule.advance(actor)
    else parked.splice(chosen - choices.length, 1)[0]?.()
    await settle()
    if (schedule.isChanged()) {
      const verdicts = new Map<string, boolean | 'undecided'>()
      for (const value of known()) verdicts.set(value, await scene.system.works(value))
      schedule.compare((value) => verdicts.get(value) ?? 'undecided', await scene.system.inspect())
    }
    if (violations.length > 0) break
  }
  // Requests that nobody waits for any more end by themselves.
  isOpen = true
  for (const resume of parked.splice(0)) resume()
  await settle()
  return violations
}
