/** Sends events in batches, sends again what the bus has refused, and skips what it refuses permanently. */
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

/** Opens the bus with a name or ARN. It connects to nothing before the first call. */
export type OpenBus = (name: string) => Bus

/** EventBridge accepts ten entries in a call. */
const BATCH = 10
/** Below EventBridge's 256 KiB for a call, with room for what surrounds the entries. */
const BATCH_BYTES = 224 * 1024
const TRIES = 5
const PAUSE_MS = 100

/** The bus accepted no event, or has no capacity: what it refused must be sent again. */
class Refused extends Error {
  constructor(codes: readonly string[]) {
    super(`the event bus refused ${codes.length} events: ${[...new Set(codes)].join(', ')}`)
    this.name = 'Refused'
  }
}

/** An event that the bus does not accept, though it accepts others. */
interface PassedOver {
  event: KeyEvent
  /** The error code of the bus. */
  code: string
}

interface Sent extends BusEntry {
  event: KeyEvent
}

/** The code of EventBridge that blames the event itself. Others may be about the bus, such as its policy. */
const MALFORMED = 'MalformedDetail'
const THROTTLED = 'ThrottlingException'

/**
 * Returns when the bus has accepted the events, with those that it refuses permanently: several times, and alone, while it accepts
 * others. Without that, one such event would stop all later ones. Throws Refused, or the error of the call.
 */
export async function publish(link: Link, events: readonly KeyEvent[]): Promise<readonly PassedOver[]> {
  const refused: PassedOver[] = []
  for (const batch of batches(events.map(toEntry))) refused.push(...(await sendBatch(link, batch)))
  const isBusAway = refused.length === events.length && refused.some(({ code }) => code !== MALFORMED)
  if (isBusAway || refused.some(({ code }) => code === THROTTLED)) throw new Refused(refused.map(({ code }) => code))
  return refused
}

interface Link {
  bus: Bus
  sleep(ms: number): Promise<void>
}

/** Sends a batch, and again what was refused; at last each of those alone. Returns what was refused then. */
async function sendBatch({ bus, sleep }: Link, batch: readonly Sent[]): Promise<PassedOver[]> {
  let left = batch
  for (let tries = 1; left.length > 0 && tries < TRIES; tries++) {
    const codes = await bus.put(left.map(entryOf))
    left = left.filter((_, index) => codes[index] !== undefined)
    if (left.length > 0) await sleep(PAUSE_MS * 2 ** tries)
  }
  const refused: PassedOver[] = []
  for (const one of left) {
    const [code] = await bus.put([entryOf(one)])
    if (code !== undefined) refused.push({ event: one.event, code })
  }
  return refused
}

const entryOf = ({ event: _, ...entry }: Sent): BusEntry => entry

const toEntry = (event: KeyEvent): Sent => ({
  event,
  source: 'keyplane',
  detailType: kindOf(event),
  detail: JSON.stringify(event, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value)),
})

function batches(entries: readonly Sent[]): Sent[][] {
  const all: Sent[][] = []
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
