/**
 * Says what must be true of a key after each change that took effect: which values work, and until when. It knows no items,
 * no settling and no order of reads. A system is right if it always says the same.
 */
import {
  type Allowed,
  type By,
  type Event,
  type Life,
  replaceSeconds,
  requestSeconds,
  retentionSeconds,
} from './system.ts'

interface State {
  disabled: boolean
  removed: boolean
  activity: number
  /** Absent after a leak of it. */
  current: string | undefined
  pending: { value: string; overlap: number; made: number } | undefined
  retiring: { value: string; until: number; usedStep: number } | undefined
  /** The step of the last change of the spec. */
  changed: number
}

export interface Truth {
  /** Applies a change, and returns what is wrong with it. */
  apply(event: Event): string[]
  works(value: string): boolean
  isPending(value: string): boolean
  isRemoved(): boolean
  /** Reports whether the key gives access at all. */
  isAlive(): boolean
  /** Reports whether an owner, a report or a restore ended the value. */
  isEndedOnPurpose(value: string): boolean
  /** The tombstones of these values are gone: they can be supplied again, and a restore can bring them back. */
  forget(values: readonly string[]): void
  /** The step of the last leak. */
  leakStep(): number
  backUp(): () => void
}

export function createTruth(life: Life, first: string, clock: { now(): number; step(): number }): Truth {
  const { now, step } = clock
  let state: State = {
    disabled: false,
    removed: false,
    activity: 0,
    current: first,
    pending: undefined,
    retiring: undefined,
    changed: 0,
  }
  /** Ended values, and the step since which requests could know that the clock would end them. */
  const ended = new Map<string, { knownSince?: number }>()
  const onPurpose = new Set<string>()
  const forgotten = new Set<string>()
  const used = new Set<string>()
  let leak = -1

  const end = (value: string | undefined, purpose: boolean, knownSince?: number) => {
    if (value === undefined) return
    forgotten.delete(value)
    ended.set(value, { ...(knownSince !== undefined && { knownSince }) })
    if (purpose) onPurpose.add(value)
  }

  const isKeptOut = (value: string) => ended.has(value) && !forgotten.has(value)

  /** Lets the clock end what is over. */
  function current(): State {
    const { retiring } = state
    if (retiring && now() >= retiring.until) {
      end(retiring.value, false, retiring.usedStep)
      state.retiring = undefined
    }
    return state
  }

  const expiry = () =>
    life.ttl === undefined
      ? Number.POSITIVE_INFINITY
      : life.ttl + (life.sliding ? Math.max(life.created, state.activity) : life.created)

  const isAlive = () => !state.removed && !state.disabled && now() < expiry()

  const isListed = (value: string) => {
    const { current: one, pending, retiring } = current()
    return value === one || value === pending?.value || value === retiring?.value
  }

  /** Returns what is wrong with a write by a value that ended, or of a request that is out of date. */
  function demandRight(by: By, what: string): string[] {
    if (by === undefined) return []
    const { disabled, removed, changed } = current()
    if (removed || disabled) return [`${what} by a value of a dead key`]
    if (by.step < changed) return [`${what} by a request from before a change of the spec`]
    return isEndedFor(by) ? [`${what} by ${by.value}, which has ended`] : []
  }

  function isEndedFor({ value, step: since }: Allowed): boolean {
    if (isListed(value)) return false
    const { knownSince } = ended.get(value) ?? {}
    return knownSince === undefined || since < knownSince
  }

  function rotate(event: Extract<Event, { type: 'rotated' }>): string[] {
    const { by, value, overlap, replace } = event
    const { pending, retiring, removed } = current()
    const wrong = demandRight(by, 'a rotation')
    if (removed || now() - requestSeconds >= expiry()) wrong.push('a rotation of a dead key')
    if (by && by.value === retiring?.value) wrong.push('a rotation by a retiring value')
    if (retiring) wrong.push(`a rotation while ${retiring.value} is retiring`)
    if (pending && !replace) wrong.push(`a rotation replaced ${pending.value} unasked`)
    if (pending && by && now() - pending.made < replaceSeconds) wrong.push(`a job replaced ${pending.value} too early`)
    if (isKeptOut(value) || isListed(value)) wrong.push(`a rotation to ${value}, which is known`)
    end(pending?.value, by === undefined)
    // Whoever knows the old value may use it, although the store does not hold it.
    if (ended.has(value) && state.current !== undefined) onPurpose.add(state.current)
    state.pending = { value, overlap, made: now() }
    ended.delete(value)
    return wrong
  }

  function use({ value, at }: Extract<Event, { type: 'first-used' }>): string[] {
    const { pending, current: old } = current()
    const wrong: string[] = []
    if (pending?.value !== value) return [`a first use of ${value}, which is not pending`]
    if (state.removed || state.disabled) wrong.push(`a first use of ${value} of a dead key`)
    if (now() - requestSeconds > expiry()) wrong.push(`a first use of ${value} of an expired key`)
    if (Math.abs(at - now()) > 10) wrong.push(`a first use at ${at}, which is not now`)
    used.add(value)
    state.retiring = undefined
    if (old !== undefined) state.retiring = { value: old, until: at + pending.overlap, usedStep: step() }
    state.current = value
    state.pending = undefined
    state.activity = Math.max(state.activity, at)
    return wrong
  }

  function put({ by, value }: Extract<Event, { type: 'put' }>): string[] {
    const { current: old, pending, retiring } = current()
    const wrong = demandRight(by, 'a PUT')
    if (by && by.value === retiring?.value) wrong.push('a PUT of spec.key by a retiring value')
    if (isKeptOut(value)) wrong.push(`a PUT of ${value}, which has ended`)
    for (const one of [old, pending?.value, retiring?.value]) if (one !== value) end(one, true)
    state = { ...state, current: value, pending: undefined, retiring: undefined, changed: step() }
    ended.delete(value)
    // A request that puts a value which it found may surprise the job that made it.
    if (by) onPurpose.add(value)
    return wrong
  }

  function reportLeak(value: string): string[] {
    const { current: old, pending, retiring } = current()
    leak = step()
    if (value === old) {
      end(old, true)
      end(retiring?.value, true)
      state = { ...state, current: undefined, retiring: undefined, disabled: true, changed: step() }
    } else if (value === pending?.value) {
      end(value, true)
      state.pending = undefined
    } else if (value === retiring?.value) {
      end(value, true)
      state.retiring = undefined
    }
    return []
  }

  function apply(event: Event): string[] {
    switch (event.type) {
      case 'rotated':
        return rotate(event)
      case 'first-used':
        return use(event)
      case 'put':
        return put(event)
      case 'leaked':
        return reportLeak(event.value)
      case 'touched':
        state.activity = Math.max(state.activity, event.at)
        return []
      case 'finished': {
        const { pending, retiring } = current()
        const wrong = demandRight(event.by, 'an end of a rotation')
        if (event.by && event.by.value === retiring?.value) wrong.push('an overlap was ended by the retiring value')
        end(pending?.value, true)
        end(retiring?.value, true)
        state = { ...state, pending: undefined, retiring: undefined }
        return wrong
      }
      case 'disabled': {
        const wrong = demandRight(event.by, 'a change')
        state = { ...state, disabled: event.disabled, changed: step() }
        return wrong
      }
      case 'removed': {
        const wrong = demandRight(event.by, 'a deletion')
        state.removed = true
        return wrong
      }
      case 'swept': {
        const wrong = now() < expiry() + retentionSeconds ? ['the sweep removed a key that has not expired'] : []
        state.removed = true
        return wrong
      }
      case 'wrote-other':
        return demandRight(event.by, 'a write')
      case 'settled':
        return []
    }
  }

  return {
    apply,
    works: (value) => isListed(value) && isAlive(),
    isPending: (value) => current().pending?.value === value,
    isRemoved: () => state.removed,
    isAlive,
    isEndedOnPurpose: (value) => onPurpose.has(value),
    forget: (values) => {
      for (const one of values) forgotten.add(one)
    },
    leakStep: () => leak,
    backUp() {
      const copy = structuredClone(current())
      return () => {
        const { current: last, pending: lastPending, retiring: lastRetiring } = current()
        const then = structuredClone(copy)
        const next = then.pending?.value
        /** A tombstone tells that the value after this one was used. */
        const isOver = next !== undefined && used.has(next) && isKeptOut(next)
        const isGone = (value: string | undefined) => value !== undefined && isKeptOut(value)
        state = {
          ...then,
          current: isGone(then.current) || isOver ? undefined : then.current,
          pending: isGone(next) ? undefined : then.pending,
          retiring: isGone(then.retiring?.value) ? undefined : then.retiring,
          changed: step(),
        }
        for (const one of [state.current, state.pending?.value, state.retiring?.value]) {
          if (one === undefined) continue
          ended.delete(one)
          onPurpose.add(one)
        }
        for (const one of [last, lastPending?.value, lastRetiring?.value]) {
          if (one === undefined || isListed(one)) continue
          end(one, true)
          forgotten.add(one)
        }
      }
    },
  }
}
