/** The commands of package.json: what a wrong call is told. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
/** The local server says its own in one sentence (test/infra/local/main.test.ts). */
const { start: _, ...others } = scripts
const own = Object.values(others).flatMap((script) => /^node (\S+\.ts)$/.exec(script)?.[1] ?? [])

test('there are commands', () => {
  expect(own).toEqual(expect.arrayContaining(['infra/deploy.ts', 'infra/package.ts', 'test/bench/main.ts']))
})

test.concurrent.each(own)('%s says what is wrong, and how it is called', async (file) => {
  const { code, said, heard } = await new Promise<{ code: unknown; said: string; heard: string }>((resolve) => {
    execFile(process.execPath, [join(root, file), '--wrong'], { cwd: root }, (error, said, heard) =>
      resolve({ code: error?.code, said, heard }),
    )
  })
  expect([code, said]).toEqual([2, ''])
  const [message, usage, ...rest] = heard.split('\n')
  expect(message).toContain("Unknown option '--wrong'")
  expect(usage).toMatch(/^usage: npm (run|start)/)
  expect(rest.join('\n')).not.toContain('    at ')
})
