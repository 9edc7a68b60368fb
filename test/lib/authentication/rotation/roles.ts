/** Plays everybody who has to do with a key: jobs that rotate it, consumers, its owner, and whoever finds or steals a value. */
import type { Scene } from './schedule.ts'
import { type Allowed, type Answer, replaceSeconds, requestSeconds, type Step } from './system.ts'

type Role = (scene: Scene) => Step<void>

const isAllowed = (one: object): one is Allowed => 'value' in one

/** Waits for up to this many steps, in the middle of something. */
function* wait({ random }: Scene, most: number): Step<void> {
  for (let left = Math.floor(random() * most); left > 0; left--) yield
}

/** Waits for up to this many steps, with no request under way. */
function* rest({ random }: Scene, most: number): Step<void> {
  for (let left = 1 + Math.floor(random() * most); left > 0; left--) yield 'resting'
}

/** Rotates the key with its own value, stores the new one, and uses it. It may be slow, or get no answer. */
function* job(scene: Scene): Step<void> {
  const { system, profile, chance, pick, now } = scene
  const overlap = pick(profile.overlaps)
  const own = chance(0.5) ? scene.newValue() : undefined
  const began = now()
  let value: string | undefined
  yield* rest(scene, 10)
  for (let turn = 0; turn < 4 && value === undefined; turn++) {
    const read = now()
    const by = yield* scene.use(scene.store)
    if (!isAllowed(by)) {
      if ('refused' in by) return
      continue
    }
    yield
    // A job that was slow begins again: it may have read the store before another job wrote it.
    if (now() - read > replaceSeconds / 2) continue
    const answer: Answer = yield* system.rotate(by, { overlap, replace: chance(0.3), ...(own && { key: own }) })
    if ('refused' in answer) {
      if (answer.refused !== 'pending') return
      yield* rest(scene, 8)
      continue
    }
    if ('unanswered' in answer || chance(0.15)) continue
    value = answer.value
    yield* (chance(0.2) ? rest : wait)(scene, 5)
  }
  if (value === undefined) return
  if (now() - began > replaceSeconds / 2) return
  if (chance(0.15)) return
  scene.setStore(value)
  yield* (chance(0.5) ? rest : wait)(scene, 3)
  if (chance(0.2)) return
  yield* scene.use(value)
}

/** Uses the value of the store, writes with it, and keeps it for a while. */
function* consumer(scene: Scene): Step<void> {
  const { system, chance } = scene
  let value = scene.store
  for (let turn = 0; turn < 12; turn++) {
    if (chance(0.6)) value = scene.store
    yield* rest(scene, 3)
    const by = yield* scene.use(value)
    if (!isAllowed(by)) {
      value = scene.store
      continue
    }
    yield* wait(scene, 2)
    if (chance(0.3)) yield* system.writeOther(by)
  }
}

/** Changes the key with another key: a new value at once, a rotation that replaces, the end of one, a deletion. */
function* owner(scene: Scene): Step<void> {
  const { system, chance, pick, profile } = scene
  for (let turn = 0; turn < 3; turn++) {
    yield* rest(scene, 10)
    const kind = scene.random()
    if (kind < 0.25) {
      const isNew = chance(0.7)
      const value = isNew ? scene.newValue() : pick(scene.known())
      const answer = yield* system.put(undefined, value)
      if ('done' in answer && isNew && chance(0.8)) scene.setStore(value)
    } else if (kind < 0.65) {
      const began = scene.now()
      const known = chance(0.2) ? pick(scene.known()) : undefined
      const replace = chance(0.6)
      const key = known ?? (chance(0.3) ? scene.newValue() : undefined)
      const answer = yield* system.rotate(undefined, { overlap: pick(profile.overlaps), replace, ...(key && { key }) })
      if (!('done' in answer) || answer.value === undefined || known !== undefined) continue
      yield* wait(scene, 4)
      if (scene.now() - began > replaceSeconds / 2 || chance(0.3)) continue
      if (scene.truth.isPending(answer.value)) scene.setStore(answer.value)
      yield* scene.use(answer.value)
    } else if (kind < 0.85) yield* system.rotate(undefined, { overlap: 0, finish: true })
    else if (kind < 0.9) yield* system.remove(undefined)
    else yield* system.setDisabled(undefined, false)
  }
}

/** Disables and enables the key. */
function* disabler(scene: Scene): Step<void> {
  const { system } = scene
  yield* rest(scene, 15)
  yield* system.setDisabled(undefined, true)
  yield* rest(scene, 15)
  if (scene.chance(0.8)) yield* system.setDisabled(undefined, false)
}

/** Reports a value that it found. */
function* finder(scene: Scene): Step<void> {
  yield* rest(scene, 25)
  const value = scene.chance(0.4) ? scene.store : scene.pick(scene.known())
  yield* scene.system.reportLeak(value)
  if (scene.chance(0.5)) yield* scene.system.reportLeak(value)
  yield* rest(scene, 10)
  if (scene.chance(0.6)) yield* scene.system.setDisabled(undefined, false)
}

/** Holds some value, and does all that it can with it, with requests that are in flight for long. */
function* thief(scene: Scene): Step<void> {
  const { system, chance, pick } = scene
  const value = chance(0.4) ? scene.store : pick(scene.everStored())
  for (let turn = 0; turn < 6; turn++) {
    yield* rest(scene, 6)
    const by = yield* scene.use(value)
    if (!isAllowed(by) || chance(0.4)) continue
    yield* wait(scene, 5)
    const kind = scene.random()
    if (kind < 0.35) yield* system.writeOther(by)
    else if (kind < 0.55) yield* system.setDisabled(by, chance(0.2))
    else if (kind < 0.65) yield* system.put(by, chance(0.5) ? pick(scene.known()) : scene.newValue())
    else if (kind < 0.75) yield* system.rotate(by, { overlap: 0, finish: true })
    else if (kind < 0.9) {
      yield* system.rotate(by, { overlap: 0 })
      // A thief reports the value that made the new one.
      if (chance(0.3)) yield* system.reportLeak(value)
    }
  }
}

/** Watches with the value of the store, and checks every ten seconds whether it may go on. */
function* watcher(scene: Scene): Step<void> {
  const by = yield* scene.use(scene.store)
  if (!isAllowed(by)) return
  for (;;) {
    yield* rest(scene, 6)
    const works = scene.truth.works(by.value)
    const before = scene.now()
    const goesOn = yield* scene.system.recheck(by)
    const isDead = !works && !scene.truth.works(by.value)
    if (goesOn && isDead && scene.now() - before <= requestSeconds) scene.wrong(`a watch with ${by.value} goes on`)
    if (!goesOn) return
  }
}

function* settler(scene: Scene): Step<void> {
  for (let turn = 0; turn < 3; turn++) {
    yield* rest(scene, 20)
    yield* scene.system.settle()
  }
}

function* sweeper(scene: Scene): Step<void> {
  for (let turn = 0; turn < 6; turn++) {
    yield* rest(scene, 12)
    yield* scene.system.sweep()
  }
}

export const roles = {
  job,
  consumer,
  owner,
  disabler,
  finder,
  thief,
  watcher,
  settler,
  sweeper,
} satisfies Record<string, Role>
