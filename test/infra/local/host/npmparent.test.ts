/** The end of `npm start`: a SIGTERM to npm ends npm and its shell, which tell nobody. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'

const module = new URL('../../../../infra/local/host/npmparent.ts', import.meta.url).href

/** Starts a program below a shell, as npm does, kills the shell, and returns what the program says when it is told. */
async function afterTheShell(env: Record<string, string>): Promise<string> {
  const script = `import { npmGone } from ${JSON.stringify(module)}
    setTimeout(() => process.exit(), process.env.npm_lifecycle_event ? 30_000 : 1500)
    const gone = npmGone()
    process.stdout.write('ready ')
    await gone
    process.stdout.write('gone')
    process.exit()`
  const line = '"$0" --input-type=module -e "$SCRIPT"; true'
  const shell = spawn('sh', ['-c', line, process.execPath], {
    env: { SCRIPT: script, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
  })
  const closed = once(shell, 'close')
  await once(shell.stdout, 'data')
  shell.kill('SIGTERM')
  await closed
  return said
}

describe('a server whose shell is gone', () => {
  test.each([
    [{ npm_lifecycle_event: 'start' }, 'hears of it with npm', 'ready gone'],
    [{}, 'goes on without npm', 'ready '],
  ])('%j: %s', async (env, _, said) => expect(await afterTheShell(env)).toBe(said))
})
