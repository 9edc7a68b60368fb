/** Sends events in batches, and sends again what the bus has refused. */
import { type KeyEvent, kindOf } from './event.ts'

/** An event as the bus receives it. */
export interface BusEntry {
  source: string
  detailType: string
  /** A CloudEvent as JSON text. */
  detail: string
}

export interface Bus {
  /** Returns an error code for each entry that was refused. Throws if the call fails as a whole. */
  put(entries: readonly BusEntry[]): Promise<readonly (string | undefined)[]>
}

/** EventBridge accepts ten entries in a call. */
const BATCH = 10
/** Below EventBridge's 256 KiB for a call, with room for what surrounds the entries. */
const BATCH_BYTES = 224 * 1024
const TRIES = 5
const PAUSE_MS = 100

/** An event that the bus refused until the tries were used up. */
export class Refused extends Error {
  constructor(codes: readonly string[]) {
    super(`the event bus refused ${codes.length} events: ${[...new Set(codes)].join(', ')}`)
    this.name = 'Refused'
  }
}

/** Returns when the bus has accepted all events. Throws Refused, or the error of the call. */
export async function publish(
  { bus, sleep }: { bus: Bus; sleep(ms: number): Promise<void> },
  events: readonly KeyEvent[],
): Promise<void> {
  for (const batch of batches(events.map(toEntry))) {
    let left = batch
    for (let tries = 1; ; tries++) {
      const codes = await bus.put(left)
      const refused = codes.filter((code) => code !== undefined)
      if (refused.length === 0) break
      if (tries === TRIES) throw new Refused(refused)
      left = left.filter((_, index) => codes[index] !== undefined)
      await sleep(PAUSE_MS * 2 ** tries)
    }
  }
}

const toEntry = (event: KeyEvent): BusEntry => ({
  source: 'keyplane',
  detailType: kindOf(event),
  detail: JSON.stringify(event),
})

function batches(entries: readonly BusEntry[]): BusEntry[][] {
  const all: BusEntry[][] = []
  let bytes = 0
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.detail) + 64
    const last = all.at(-1)
    if (last && last.length < BATCH && bytes + size <= BATCH_BYTES) {
      last.push(entry)
      bytes += size
    } else {
      all.push([entry])
      bytes = size
    }
  }
  return all
}
