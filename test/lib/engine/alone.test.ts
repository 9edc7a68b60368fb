/** Checks the types of the engine in a folder that has nothing else of lib: its user has only a name. */
import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')

test('the engine type checks alone', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-engine-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'tsconfig.json', 'lib/engine'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const checked = promisify(execFile)(process.execPath, [compiler, '--project', join(folder, 'lib/engine')])
  expect(await checked.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' })
})
