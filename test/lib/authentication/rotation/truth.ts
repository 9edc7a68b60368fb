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
  /** Reports whether the key gives access at all. */
  isAlive(): boolean
  /** Reports whether an owner or a report ended the value. */
  isEndedOnPurpose(value: string): boolean
  /** The tombstones of these values are gone: they can be supplied again. */
  forget(values: readonly string[]): void
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
  /** The value with which each value was made. Absent: another key made it. */
  const makers = new Map<string, string>()

  const end = (value: string | undefined, purpose: boolean, knownSince?: number) => {
    if (value === undefined) return
    forgotten.delete(value)
    ended.set(value, { ...(knownSince !== undefined && { knownSince }) })
    if (purpose) onPurpose.add(value)
  }

  const made = (value: string, by: By) => {
    if (by) makers.set(value, by.value)
    else makers.delete(value)
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
    // Anyone who knows the old value may use it, although the store does not hold it.
    if (ended.has(value) && state.current !== undefined) onPurpose.add(state.current)
    state.pending = { value, overlap, made: now() }
    made(value, by)
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
    if (value !== old) made(value, by)
    ended.delete(value)
    // A request that puts a value which it found may surprise the job that made it.
    if (by) onPurpose.add(value)
    return wrong
  }

  /** Reports whether a value was made with another one of the key, perhaps by way of others. */
  function isMadeWith(value: string, maker: string): boolean {
    const by = makers.get(value)
    return by !== undefined && (by === maker || isMadeWith(by, maker))
  }

  function reportLeak({ value, ended: gone }: Extract<Event, { type: 'leaked' }>): string[] {
    const { current: old, pending, retiring } = current()
    const living = [old, pending?.value, retiring?.value].filter((one) => one !== undefined)
    const leaked = living.filter((one) => one === value || isMadeWith(one, value))
    const wrong = leaked.filter((one) => !gone.includes(one)).map((one) => `${one} outlives the leak of ${value}`)
    const spared = gone.filter(
      (one) => !leaked.includes(one) && !(leaked.includes(old ?? '') && one === retiring?.value),
    )
    wrong.push(...spared.map((one) => `${one} ends with ${value}, which did not make it`))
    for (const one of gone) end(one, true)
    const isCurrent = old !== undefined && gone.includes(old)
    state = {
      ...state,
      ...(isCurrent && { current: undefined, disabled: true, changed: step() }),
      pending: pending && gone.includes(pending.value) ? undefined : pending,
      retiring: isCurrent || (retiring && gone.includes(retiring.value)) ? undefined : retiring,
    }
    if (isCurrent) end(retiring?.value, true)
    return wrong
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
        return reportLeak(event)
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
    isAlive,
    isEndedOnPurpose: (value) => onPurpose.has(value),
    forget: (values) => {
      for (const one of values) forgotten.add(one)
    },
  }
}
