/**
 * Preloaded into a server of a test: its clock runs with an offset that the test sets, so that it has objects from the past. The
 * message `{ clockOffset }` from the test, in milliseconds, moves the clock, and `{ clockStop }` stops it at a time. Each is answered
 * with itself.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'

const Real = Date
let offset = Number(process.env.CLOCK_OFFSET)
let stop: number | undefined
const now = () => stop ?? Real.now() + offset

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

// Clients of AWS set their clocks by this header, which Node.js fills from its own.
subscribe('http.server.response.created', (message) => {
  const { response } = message as { response: ServerResponse }
  response.setHeader('date', new Date().toUTCString())
})

process.on('message', (message: { clockOffset: number } | { clockStop: number }) => {
  if ('clockStop' in message) stop = message.clockStop
  else [offset, stop] = [message.clockOffset, undefined]
  process.send?.(message)
})
// The server ends although the test could send more.
process.channel?.unref()
