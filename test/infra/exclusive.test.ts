/** The lock between processes: the death of its holder releases it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeLock } from '../../infra/exclusive.ts'
import { testFolder } from '../support/folder.ts'

const module = new URL('../../infra/exclusive.ts', import.meta.url).href
const folder = testFolder()

/** Starts a process that holds the lock until it is killed. */
async function startHolder(file: string) {
  const script = `const [module, file] = process.argv.slice(1); const { takeLock } = await import(module); globalThis.held = takeLock(file); console.log(typeof held); setInterval(() => {}, 1000)`
  const args = ['--input-type=module', '-e', script, module, file]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
  expect(said).toBe('function\n')
  return child
}

test.each<NodeJS.Signals>(['SIGINT', 'SIGKILL'])(
  'the lock is released when %s terminates its holder',
  async (signal) => {
    const file = join(folder, signal)
    const child = await startHolder(file)
    expect(takeLock(file)).toBeUndefined()
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    const unlock = takeLock(file)
    expect(takeLock(file)).toBeUndefined()
    unlock?.()
    takeLock(file)?.()
  },
)

test('takeLock throws for a file that cannot be written', () =>
  expect(() => takeLock(join(folder, 'nowhere', 'lock'))).toThrow('unable to open database file'))
