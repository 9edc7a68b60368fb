/** Reads lines of standard input, one at a time. */

/** Asks for one line in a terminal, which does not show what is typed. Returns undefined at the end of the input. */
export async function hiddenLine(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process
  let line = ''
  // Before the question, so that nothing that is typed quickly is shown.
  stdin.setRawMode(true)
  process.stderr.write(prompt)
  try {
    for (;;) {
      const chunk = await nextChunk(signal)
      if (chunk === undefined) return line || undefined
      for (const one of chunk) {
        if (one === '\r' || one === '\n') return line
        if (one === CTRL_D) return line || undefined
        // In raw mode the terminal sends no signal. One that a process sends to itself would end it on Windows, with the terminal in this mode.
        if (one === CTRL_C) process.emit('SIGINT', 'SIGINT')
        else if (one === BACKSPACE || one === '\b') line = line.slice(0, -1)
        else line += one
      }
    }
  } finally {
    stdin.setRawMode(false)
    process.stderr.write('\n')
  }
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const BACKSPACE = '\u007f'

/** Returns a function that reads one line of standard input, and keeps what follows it for the next. */
export function lineReader(): (signal: AbortSignal) => Promise<string | undefined> {
  let rest = ''
  let ended = false
  return async (signal) => {
    for (;;) {
      const at = rest.indexOf('\n')
      if (at >= 0) {
        const line = rest.slice(0, at).replace(/\r$/, '')
        rest = rest.slice(at + 1)
        return line
      }
      if (ended) {
        const last = rest
        rest = ''
        return last === '' ? undefined : last
      }
      const chunk = await nextChunk(signal)
      if (chunk === undefined) ended = true
      else rest += chunk
    }
  }
}

function nextChunk(signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    const done = (act: () => void) => {
      stdin.off('data', data).off('end', end).off('error', fail)
      signal.removeEventListener('abort', abort)
      stdin.pause()
      act()
    }
    const data = (chunk: Buffer) => done(() => resolve(chunk.toString()))
    const end = () => done(() => resolve(undefined))
    const fail = (error: Error) => done(() => reject(error))
    const abort = () => done(() => reject(signal.reason))
    if (signal.aborted) return reject(signal.reason)
    if (stdin.readableEnded) return resolve(undefined)
    stdin.on('data', data).on('end', end).on('error', fail)
    signal.addEventListener('abort', abort)
    stdin.resume()
  })
}
