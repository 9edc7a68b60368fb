/** What a signal does to a process that waits for its standard input. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const PROCESS = new URL('../../../clients/cli/src/io/process.ts', import.meta.url).href

/** Says when it begins to read, and why it ended before the end of the input. */
const program = (read: string) => `
  import { processIo } from ${JSON.stringify(PROCESS)}
  const { io } = processIo()
  io.err('reading ')
  await io.${read}().catch((error) => io.err(\`stopped: \${io.signal.aborted} \${error.cause?.message ?? error.message}\`))`

test.each([
  ['readStdin', 'SIGINT'],
  ['readStdin', 'SIGTERM'],
  ['readLine', 'SIGINT'],
] as const)('%s ends at once with %s, not when the time for cleaning up is over', async (read, signal) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(read)])
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said === 'reading ') child.kill(signal)
  })
  await once(child, 'close')
  expect(said).toBe(`reading stopped: true ended by ${signal}`)
})
