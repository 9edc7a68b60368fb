/** Computes in slices, between which the browser draws and answers: nobody waits for a long list to be sorted. */

/** A computation that can pause at each step. */
export type Steps<T> = Generator<void, T>

/** So long a slice takes, in milliseconds, which leaves the time of a frame to what is drawn after it. */
const SLICE_MS = 8
/** So many elements of a list are a step. */
const STEP = 256

/** Runs steps for the time of a slice. The result is undefined while steps are left. */
export function runSlice<T>(steps: Steps<T>, clock: () => number): { value: T } | undefined {
  const end = clock() + SLICE_MS
  do {
    const { done, value } = steps.next()
    if (done) return { value }
  } while (clock() < end)
  return undefined
}

/** Tells the time in milliseconds, and runs something later: after what the browser has to do now, or after its next frame. */
export interface Surroundings {
  clock(): number
  later(run: () => void): void
  afterFrame(run: () => void): void
}

/**
 * Runs what is left of steps, each slice later, and tells the result after the next frame, so that what is drawn then has a frame for itself.
 * Returns a function that gives up: then nothing is found any more.
 */
export function runLater<T>(steps: Steps<T>, around: Surroundings, onEnd: (value: T) => void): () => void {
  let isWanted = true
  const run = () => {
    const end = isWanted ? runSlice(steps, around.clock) : undefined
    if (end) around.afterFrame(() => isWanted && onEnd(end.value))
    else if (isWanted) around.later(run)
  }
  around.later(run)
  return () => {
    isWanted = false
  }
}

/** Runs all steps at once. */
export const finished = <T>(steps: Steps<T>): T => runSlice(steps, () => 0)?.value as T

/** Calls back for each element. */
export function* each<T>(list: Iterable<T>, visit: (one: T) => void): Steps<void> {
  let count = 0
  for (const one of list) {
    visit(one)
    count += 1
    if (count % STEP === 0) yield
  }
}

/** Sorts a list as `toSorted` does. */
export function* sorting<T>(list: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = []
  for (let from = 0; from < list.length; from += STEP) {
    runs.push(list.slice(from, from + STEP).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merging(runs[at] ?? [], runs[at + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* merging<T>(one: readonly T[], other: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const all: T[] = []
  let from = 0
  for (const [at, next] of other.entries()) {
    while (from < one.length && compare(one[from] as T, next) <= 0) from = all.push(one[from] as T) - at
    all.push(next)
    if (at % STEP === 0) yield
  }
  return [...all, ...one.slice(from)]
}
