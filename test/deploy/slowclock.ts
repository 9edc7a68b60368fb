/**
 * Preloaded into the functions of an emulator: their clocks run slower than those of this machine, so that no limit of theirs ends a
 * request because the emulator is slow. A call of the table, for example, may take a second, and a write five.
 */
const slower = Number(process.env.FUNCTION_CLOCK_SLOWER)
/** Milliseconds of the shortest limit. Shorter times are those of repetitions. */
const SHORTEST = 500

const Real = Date
const start = Real.now()
const now = () => start + Math.floor((Real.now() - start) / slower)

globalThis.Date = class extends Real {
  // biome-ignore lint/suspicious/noExplicitAny: the constructor of Date has several forms.
  constructor(...given: any[]) {
    if (given.length === 0) super(now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return now()
  }
} as DateConstructor

const elapsed = performance.now.bind(performance)
performance.now = () => elapsed() / slower

const wait = globalThis.setTimeout
const slowWait = (callback: () => void, milliseconds = 0, ...given: []) =>
  wait(callback, milliseconds < SHORTEST ? milliseconds : milliseconds * slower, ...given)
globalThis.setTimeout = Object.defineProperties(slowWait, Object.getOwnPropertyDescriptors(wait)) as typeof setTimeout
