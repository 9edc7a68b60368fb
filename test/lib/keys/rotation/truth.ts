/** Says which values of a key must work after each change that took effect. It knows no items, no settling and no order of reads. */

/** A change that took effect, reported at the moment of its transaction. */
export type Event =
  | { type: 'rotated'; value: string; overlap: number; replace: boolean }
  | { type: 'finished' }
  /** The first use of a pending value, at the time that the overlap counts from. */
  | { type: 'first-used'; value: string; at: number }
  | { type: 'put'; value: string }
  /** What ends with a reported value. */
  | { type: 'leaked'; value: string; ended: readonly string[] }
  | { type: 'settled' }

export interface Truth {
  /** Applies a change, and returns what is wrong with it. */
  apply(event: Event): string[]
  works(value: string): boolean
}

interface State {
  disabled: boolean
  /** Absent after a leak of it. */
  current?: string | undefined
  pending?: { value: string; overlap: number } | undefined
  retiring?: { value: string; until: number } | undefined
}

export function createTruth(first: string, now: () => number): Truth {
  let state: State = { disabled: false, current: first }
  const ended = new Set<string>()

  const end = (...values: (string | undefined)[]) => {
    for (const value of values) if (value !== undefined) ended.add(value)
  }

  /** Lets the clock end what is over. */
  function current(): State {
    const { retiring } = state
    if (retiring && now() >= retiring.until) {
      end(retiring.value)
      state.retiring = undefined
    }
    return state
  }

  const living = (): (string | undefined)[] => {
    const { current: one, pending, retiring } = current()
    return [one, pending?.value, retiring?.value]
  }

  function rotate({ value, overlap, replace }: Extract<Event, { type: 'rotated' }>): string[] {
    const { pending, retiring } = current()
    const wrong: string[] = []
    if (retiring) wrong.push(`a rotation while ${retiring.value} is retiring`)
    if (pending && !replace) wrong.push(`a rotation replaced ${pending.value} unasked`)
    if (ended.has(value) || living().includes(value)) wrong.push(`a rotation to ${value}, which is known`)
    end(pending?.value)
    state.pending = { value, overlap }
    return wrong
  }

  function use({ value, at }: Extract<Event, { type: 'first-used' }>): string[] {
    const { pending, current: old } = current()
    if (pending?.value !== value) return [`a first use of ${value}, which is not pending`]
    const retiring = old === undefined ? undefined : { value: old, until: at + pending.overlap }
    state = { ...state, current: value, pending: undefined, retiring }
    return at === now() ? [] : [`a first use at ${at}, which is not now`]
  }

  function put({ value }: Extract<Event, { type: 'put' }>): string[] {
    const wrong = ended.has(value) ? [`a PUT of ${value}, which has ended`] : []
    end(...living().filter((one) => one !== value))
    state = { ...state, current: value, pending: undefined, retiring: undefined }
    return wrong
  }

  function reportLeak({ value, ended: gone }: Extract<Event, { type: 'leaked' }>): string[] {
    const { current: old, pending, retiring } = current()
    const isCurrent = value === old
    const due = (one: string) => one === value || (isCurrent && one === retiring?.value)
    const wrong = gone.filter((one) => !due(one)).map((one) => `${one} ends with ${value}, which did not make it`)
    if (living().includes(value) && !gone.includes(value)) wrong.push(`${value} outlives its leak`)
    end(...gone, ...(isCurrent ? [retiring?.value] : []))
    state = {
      disabled: state.disabled || isCurrent,
      current: isCurrent ? undefined : old,
      pending: pending && gone.includes(pending.value) ? undefined : pending,
      retiring: isCurrent || (retiring && gone.includes(retiring.value)) ? undefined : retiring,
    }
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
      case 'finished': {
        const { pending, retiring } = current()
        end(pending?.value, retiring?.value)
        state = { ...state, pending: undefined, retiring: undefined }
        return []
      }
      case 'settled':
        return []
    }
  }

  return { apply, works: (value) => living().includes(value) && !state.disabled }
}
